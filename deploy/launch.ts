/** Runs what a target's `preview` describes. */
import { setTimeout as delay } from 'node:timers/promises'
import { devAllowedHosts } from './allowed-hosts.ts'
import { CliError, printable } from './cli-error.ts'
import { shown } from './entry.ts'
import { type HeldOutput, holdOutput, loadError } from './held-output.ts'
import { untilListening } from './port.ts'
import { startProcessGroup } from './process-group.ts'
import type { Launch, Project } from './target.ts'

const LAST_WORDS_MS = 1000

export interface LaunchOptions {
  readonly project: Pick<Project, 'entry'>
  /** Of 127.0.0.1, where it is going to listen. */
  readonly port: number
  /** Where what the server prints goes, a file descriptor; by default stderr, since stdout is for what scripts read. */
  readonly output?: number
}

export interface RunningLaunch {
  readonly exited: Promise<number>
  /** Resolves when it takes connections; rejects as `failed` does, and when it is stopped before. */
  readonly listening: Promise<void>
  /** Rejects with `CliError` when it ends by itself; never resolves. */
  readonly failed: Promise<never>
  /** Ends all of its processes; safe to call twice. */
  stop(): Promise<void>
}

/** What it prints before it listens is shown once it does; of a server that cannot be loaded only the reason is. */
export function startLaunch({ command, args, cwd, env }: Launch, options: LaunchOptions): RunningLaunch {
  const isScript = /\.(?:js|cjs|mjs|ts)$/.test(command)
  const group = startProcessGroup(
    isScript ? [command, ...args] : args,
    {
      cwd,
      env: { ...process.env, MAYFLY_ALLOWED_HOSTS: devAllowedHosts(), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
    isScript ? process.execPath : command,
  )
  const output = holdOutput(group.child, options.output)
  const stopping = new AbortController()
  const failed = new Promise<never>((_resolve, reject) => {
    group.exited.then(
      async (code) => {
        if (stopping.signal.aborted) return
        // Processes that outlive the first keep its pipes open, and the reason may still be in there.
        await group.stop()
        await output.ended
        reject(endedWith(code, options.project, output))
      },
      (error: NodeJS.ErrnoException) =>
        reject(new CliError(`cannot run ${command} (${error.code}): is it installed?`)),
    )
  })
  const listening = Promise.race([untilListening(options.port, stopping.signal), failed])
  listening.then(output.release, () => {})
  // A caller that waits for these gets the error; no caller has to.
  failed.catch(() => {})
  return {
    exited: group.exited,
    listening,
    failed,
    stop: async () => {
      stopping.abort()
      // As it never listened, what it printed may say why.
      output.release()
      await group.stop()
      // Its last words. What left the group may keep the pipes.
      await Promise.race([output.ended, delay(LAST_WORDS_MS, undefined, { ref: false })])
      output.discard()
    },
  }
}

function endedWith(code: number, { entry }: Pick<Project, 'entry'>, output: HeldOutput): CliError {
  const reason = loadError(output.text)
  if (reason === undefined) {
    output.release()
    return new CliError(`the server ended with exit code ${code}: see its output above`)
  }
  output.discard()
  const own = `TypeError: the default export of ${shown(entry)} `
  if (reason.startsWith(own)) return new CliError(printable(reason.replace(/^TypeError: /, '')))
  return new CliError(`${shown(entry)} cannot be loaded: ${printable(reason)}`)
}
