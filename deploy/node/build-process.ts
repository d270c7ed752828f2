/** The parent's side of one `child.ts` process. */
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CliError } from '../cli-error.ts'
import { noFetch, shown } from '../entry.ts'
import { busyPort } from '../port.ts'
import { type ProcessGroup, startProcessGroup } from '../process-group.ts'
import { DEV_ALLOWED_HOSTS, type StartOptions } from '../target.ts'
import type { ChildMessage, ParentMessage } from './child.ts'

export interface BuildProcess {
  exited: ProcessGroup['exited']
  stop: ProcessGroup['stop']
  /** Resolves when the build is imported and exports a server; rejects with `CliError`. */
  loaded: Promise<void>
  /** Serves on the port. Rejects with `CliError`. */
  listen(): Promise<void>
  /** Gives up the port at once, then ends after its running requests. Rejects when it has ended before. */
  release(): Promise<void>
}

/** `.ts` from source, `.js` from dist/. */
const CHILD = fileURLToPath(new URL(`./child${extname(import.meta.url)}`, import.meta.url))

/** Starts a process that loads the build `file`. */
export function startBuild(file: string, { entry, cwd, port }: StartOptions): BuildProcess {
  const { child, exited, stop } = startProcessGroup(['--enable-source-maps', CHILD, file], {
    cwd,
    env: { ...process.env, MAYFLY_ALLOWED_HOSTS: DEV_ALLOWED_HOSTS },
    // What the server prints goes to stderr: stdout is for the ready line.
    stdio: ['ignore', 2, 2, 'ipc'],
  })
  const gone = exited.then((code): never => {
    throw new CliError(`${shown(entry)} ended its process with exit code ${code}: see its output above`)
  })
  const answer = async (wanted: ChildMessage['type']): Promise<void> => {
    const next = new Promise<ChildMessage>((resolve) => child.once('message', resolve))
    const message = await Promise.race([next, gone])
    if (message.type !== wanted) throw refusal(message, entry, port)
  }
  const ask = (message: ParentMessage, wanted: ChildMessage['type']): Promise<void> => {
    const answered = answer(wanted)
    // A process that has ended cannot be sent anything: `gone` says so.
    child.send(message, () => {})
    return answered
  }
  return {
    exited,
    stop,
    loaded: answer('loaded'),
    listen: () => ask({ type: 'listen', port }, 'listening'),
    release: () => ask({ type: 'release' }, 'released'),
  }
}

function refusal(message: ChildMessage, entry: string, port: number): CliError {
  if (message.type !== 'failed') return noFetch(entry)
  if (message.code === 'EADDRINUSE') return busyPort(port)
  return new CliError(`${shown(entry)} cannot be loaded: ${message.reason}`)
}
