/** Loads what is used of `@hono/node-server`, an optional package whose import takes longer than that of all the rest. */
import { memberOf } from '../../src/definition/error-text.ts'
import { part } from '../../src/definition/part.ts'
import type * as hono from './hono-listener.ts'

const PACKAGE = '@hono/node-server'

const loadHono = (): Promise<typeof hono> => import('./hono-listener.ts')

/** At once if it is loaded. @throws Error if the package is not installed, and PartError as `part`. */
export function honoListener(): typeof hono | Promise<typeof hono> {
  const known = part(loadHono)
  return known instanceof Promise ? known.catch(explain) : known
}

/** Whether it is installed, without the time that loading it takes. @throws Error as `honoListener`. */
export async function requireHono(): Promise<void> {
  await import('@hono/node-server/conninfo').catch((cause: unknown) => explain(new Error(PACKAGE, { cause })))
}

function explain(error: unknown): never {
  const cause = memberOf(error, 'cause')
  const isMissing = memberOf(cause, 'code') === 'ERR_MODULE_NOT_FOUND' && String(cause).includes(PACKAGE)
  if (isMissing) throw new Error(`mayfly-mcp/node needs ${PACKAGE}: npm install ${PACKAGE}`, { cause })
  throw error
}
