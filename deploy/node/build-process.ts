/** The parent's side of one `child.ts` process. */
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CliError } from '../cli-error.ts'
import { noFetch, shown } from '../entry.ts'
import { type ProcessGroup, startProcessGroup } from '../process-group.ts'
import { devAllowedHosts, type StartOptions } from '../target.ts'
import type { ChildMessage, ParentMessage } from './child.ts'

export interface BuildProcess {
  exited: ProcessGroup['exited']
  stop: ProcessGroup['stop']
  /** Resolves when the build is imported and exports a server; rejects with `CliError`. */
  loaded: Promise<void>
  /** Serves, and resolves with the port of 127.0.0.1. Rejects with `CliError`. */
  listen(): Promise<number>
  /** Takes no more connections, then ends after its running requests. Rejects when it has ended before. */
  release(): Promise<void>
}

/** `.ts` from source, `.js` from dist/. */
const CHILD = fileURLToPath(new URL(`./child${extname(import.meta.url)}`, import.meta.url))

/** Starts a process that loads the build `file`. */
export function startBuild(file: string, { entry, cwd }: Pick<StartOptions, 'entry' | 'cwd'>): BuildProcess {
  const { child, exited, stop } = startProcessGroup(['--enable-source-maps', CHILD, file], {
    cwd,
    env: { ...process.env, MAYFLY_ALLOWED_HOSTS: devAllowedHosts() },
    // What the server prints goes to stderr: stdout is for the ready line.
    stdio: ['ignore', 2, 2, 'ipc'],
  })
  const gone = exited.then((code): never => {
    throw new CliError(`${shown(entry)} ended its process with exit code ${code}: see its output above`)
  })
  const answer = async <Type extends ChildMessage['type']>(
    wanted: Type,
  ): Promise<ChildMessage & { type: Type }> => {
    const next = new Promise<ChildMessage>((resolve) => child.once('message', resolve))
    const message = await Promise.race([next, gone])
    if (!isA(message, wanted)) throw refusal(message, entry)
    return message
  }
  const ask = <Type extends ChildMessage['type']>(message: ParentMessage, wanted: Type) => {
    const answered = answer(wanted)
    // A process that has ended cannot be sent anything: `gone` says so.
    child.send(message, () => {})
    return answered
  }
  return {
    exited,
    stop,
    loaded: answer('loaded').then(() => {}),
    listen: async () => (await ask({ type: 'listen' }, 'listening')).port,
    release: async () => void (await ask({ type: 'release' }, 'released')),
  }
}

function isA<Type extends ChildMessage['type']>(
  message: ChildMessage,
  type: Type,
): message is ChildMessage & { type: Type } {
  return message.type === type
}

function refusal(message: ChildMessage, entry: string): CliError {
  if (message.type !== 'failed') return noFetch(entry)
  return new CliError(`${shown(entry)} cannot be loaded: ${message.reason}`)
}
