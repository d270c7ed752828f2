/**
 * Run as `host.ts <bundle> <what is asked>`: loads a built server and works on the store of its tasks. Prints one line of JSON. Runs no task:
 * this process ends at once.
 */
import { memberOf, textOf } from '../../src/definition/error-text.ts'
import { serverWithin } from '../../src/http/mounted.ts'
import type { TaskSupport } from '../../src/tasks/support.ts'
import type { createTaskAdmin, ServerWithTasks } from '../../src/tasks-admin.ts'
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
  readonly createTaskAdmin: typeof createTaskAdmin
}

const [, , file = '', text = ''] = process.argv
const bundle = (await importOrEnd(file)) as Bundle
const answer = await answered(JSON.parse(text) as Asked)
process.stdout.write(`\n${JSON.stringify(answer)}\n`, () => process.exit(0))

async function answered(asked: Asked): Promise<HostAnswer> {
  try {
    const server = withTasks(serverIn(bundle.default))
    const tasks = server.tasks as TaskSupport
    // Nothing runs here, though its timers may.
    tasks.close()
    if (tasks.isLocal)
      return { refusal: 'its tasks are in the memory of the server: pass its task endpoint as --url' }
    const admin = bundle.createTaskAdmin({ secret: crypto.randomUUID() })
    return await perform(asked, admin.of(server))
  } catch (error) {
    return { refusal: textOf(error).replaceAll(/\s+/g, ' '), code: memberOf(error, 'code') }
  }
}

/** The server, or one within its wrappers. */
function withTasks(found: unknown): ServerWithTasks {
  const server = [found, serverWithin(found)].find((one) => memberOf(one, 'tasks') !== undefined)
  if (server === undefined) throw new Error('the server of its default export has no "tasks"')
  return server as ServerWithTasks
}
