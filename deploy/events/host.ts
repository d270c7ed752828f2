/**
 * Run as `host.ts <bundle> <what is asked>`: loads a built server and works on the store of its events. Prints one line of JSON. Delivers
 * nothing: this process ends at once.
 */
import { memberOf, textOf } from '../../src/definition/error-text.ts'
import type { createEventAdmin, ServerWithEvents } from '../../src/events-admin.ts'
import { serverWithin } from '../../src/http/mounted.ts'
import { serverIn } from '../doctor/server-in.ts'
import { importOrEnd } from '../run/load-reason.ts'
import { type Asked, perform, type Told } from './request.ts'

export interface HostAnswer extends Told {
  /** Why nothing was done, in one line. */
  readonly refusal?: string
  readonly code?: unknown
}

interface Bundle {
  readonly default: unknown
  readonly createEventAdmin: typeof createEventAdmin
}

type Served = ServerWithEvents & {
  close?(): Promise<void>
  getDeploymentInfo?(env: unknown): { readonly hasLocalEvents?: boolean }
}

const [, , file = '', text = ''] = process.argv
const bundle = (await importOrEnd(file)) as Bundle
const answer = await answered(JSON.parse(text) as Asked)
process.stdout.write(`\n${JSON.stringify(answer)}\n`, () => process.exit(0))

async function answered(asked: Asked): Promise<HostAnswer> {
  try {
    const server = withEvents(serverIn(bundle.default))
    if (server.getDeploymentInfo?.(process.env).hasLocalEvents === true)
      return {
        refusal:
          'its events are in the memory of the server: pass its endpoint of events (createEventEndpoint with "admin") as --url',
      }
    // Its timers deliver nothing here.
    await server.close?.()
    const admin = bundle.createEventAdmin({ secret: crypto.randomUUID() })
    return await perform(asked, admin.of(server))
  } catch (error) {
    return { refusal: textOf(error).replaceAll(/\s+/g, ' '), code: memberOf(error, 'code') }
  }
}

/** The server, or one within its wrappers. */
function withEvents(found: unknown): Served {
  const server = [found, serverWithin(found)].find((one) => memberOf(one, 'events') !== undefined)
  if (server === undefined) throw new Error('the server of its default export has no "events"')
  return server as Served
}
