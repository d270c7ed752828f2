/** What must happen after this process has ended, however it ended: by a signal, or killed. */
import { spawn } from 'node:child_process'

/**
 * Runs a POSIX shell script once this process is gone, unless what is returned was called before: by a small process that waits for
 * the other end of its stdin to close. `args` are `$1` and so on. Does not keep this process running.
 *
 * @param onError called if there is no /bin/sh.
 */
export function afterDeath(
  script: string,
  args: readonly string[],
  onError: (error: NodeJS.ErrnoException) => void = () => {},
): () => void {
  // In a group of its own: Ctrl-C and signals to this process's group must not reach it.
  const waiting = `trap '' HUP INT TERM USR1 USR2; if read -r _; then exit; fi; ${script}`
  const guard = spawn('/bin/sh', ['-c', waiting, 'mayfly-guard', ...args], {
    cwd: '/',
    env: { PATH: process.env.PATH },
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  guard.on('error', onError)
  // It may have been killed already.
  guard.stdin.on('error', () => {})
  guard.unref()
  return () => void guard.stdin.end('\n')
}
