/** Runs the process that a target's `preview` describes. */

import { setTimeout as delay } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { memberOf } from '../../src/definition/error-text.ts'
import type { Launch, Project, StartOptions } from '../contract/target.ts'
import { displayPath } from '../project/entry.ts'
import { CliError, printable } from '../terminal/cli-error.ts'
import { type HeldOutput, holdOutput, loadError } from './held-output.ts'
import { localVariables } from './local-variables.ts'
import { untilListening } from './port.ts'
import { startProcessGroup } from './process-group.ts'
import { WATCHER } from './watcher.ts'

const LAST_WORDS_MS = 1000

export interface LaunchOptions {
  readonly project: Pick<Project, 'entry'>
  /** The port of 127.0.0.1 where it will listen. */
  readonly port: number
  /** The file descriptor for the server's output; by default stderr, since scripts read stdout. */
  readonly output?: number
  /** Called with each error that the server logs. */
  readonly onServerError?: StartOptions['onServerError']
}

export interface RunningLaunch {
  readonly exited: Promise<number>
  /** Resolves when it accepts connections; rejects like `failed`, or if it is stopped before. */
  readonly listening: Promise<void>
  /** Rejects with `CliError` if it ends by itself; never resolves. */
  readonly failed: Promise<never>
  /** Ends all of its processes. Safe to call twice. */
  stop(): Promise<void>
}

/** Output from before it listens is shown once it listens. If the server cannot be loaded, only the reason is shown. */
export function startLaunch({ command, args, cwd, env }: Launch, options: LaunchOptions): RunningLaunch {
  const isScript = /\.(?:js|cjs|mjs|ts)$/.test(command)
  const group = startProcessGroup(
    isScript ? ['--import', pathToFileURL(WATCHER).href, command, ...args] : args,
    {
      cwd,
      env: { ...process.env, ...localVariables(), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
    isScript ? process.execPath : command,
  )
  const output = holdOutput(group.child, {
    output: options.output,
    onServerError: options.onServerError,
  })
  const stopping = new AbortController()
  const failed = new Promise<never>((_resolve, reject) => {
    group.exited.then(
      async (code) => {
        if (stopping.signal.aborted) return
        // Processes that outlive the first one keep its pipes open, and the reason may still be unread.
        await group.stop()
        await output.ended
        reject(endedWith(code, options.project, output))
      },
      (error: unknown) =>
        reject(new CliError(`cannot run ${command} (${memberOf(error, 'code')}): is it installed?`)),
    )
  })
  const listening = Promise.race([untilListening(options.port, stopping.signal), failed])
  listening.then(output.release, () => {})
  // A caller that awaits these gets the error; others do not have to handle it.
  failed.catch(() => {})
  return {
    exited: group.exited,
    listening,
    failed,
    stop: async () => {
      stopping.abort()
      // It never listened, so its output may say why.
      output.release()
      await group.stop()
      // Waits briefly for the last output: a process that left the group may keep the pipes open.
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
  const own = `TypeError: the default export of ${displayPath(entry)} `
  if (reason.startsWith(own)) return new CliError(printable(reason.replace(/^TypeError: /, '')))
  return new CliError(`${displayPath(entry)} cannot be loaded: ${printable(reason)}`)
}
