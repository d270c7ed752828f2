/** Runs what a target's `preview` describes. */
import { CliError } from './cli-error.ts'
import { startProcessGroup } from './process-group.ts'
import { DEV_ALLOWED_HOSTS, type Launch } from './target.ts'

export interface RunningLaunch {
  readonly exited: Promise<number>
  /** Rejects with `CliError` when it ends by itself; never resolves. */
  readonly failed: Promise<never>
  /** Ends all of its processes; safe to call twice. */
  stop(): Promise<void>
}

/**
 * What the server prints goes to `output`, a file descriptor; by default stderr, since stdout is for what scripts read.
 */
export function startLaunch({ command, args, cwd, env }: Launch, output: number = 2): RunningLaunch {
  const isScript = /\.(?:js|cjs|mjs|ts)$/.test(command)
  const group = startProcessGroup(
    isScript ? [command, ...args] : args,
    {
      cwd,
      env: { ...process.env, MAYFLY_ALLOWED_HOSTS: DEV_ALLOWED_HOSTS, ...env },
      stdio: ['ignore', output, output],
    },
    isScript ? process.execPath : command,
  )
  let isStopped = false
  const failed = new Promise<never>((_resolve, reject) => {
    group.exited.then(
      (code) => {
        if (!isStopped) reject(new CliError(`the server ended with exit code ${code}: see its output above`))
      },
      (error: NodeJS.ErrnoException) =>
        reject(new CliError(`cannot run ${command} (${error.code}): is it installed?`)),
    )
  })
  // Whoever waits for `failed` hears of it; nobody has to.
  failed.catch(() => {})
  return {
    exited: group.exited,
    failed,
    stop: () => {
      isStopped = true
      return group.stop()
    },
  }
}
