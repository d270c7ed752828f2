/** Runs cleanup after this process has ended, even if it was killed. */
import { spawn } from 'node:child_process'

/**
 * Runs a POSIX shell script once this process is gone, unless the returned function was called before. A small process waits for the other
 * end of its stdin to close. `args` are `$1` and so on. Does not keep this process running.
 *
 * @param onError Called if there is no /bin/sh.
 */
export function afterDeath(
  script: string,
  args: readonly string[],
  onError: (error: NodeJS.ErrnoException) => void = () => {},
): () => void {
  // In a separate group: Ctrl-C and signals to this process's group must not reach it.
  const waiting = `trap '' HUP INT TERM USR1 USR2; if read -r _; then exit; fi; ${script}`
  const guard = spawn('/bin/sh', ['-c', waiting, 'mayfly-guard', ...args], {
    cwd: '/',
    env: { PATH: process.env.PATH },
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  guard.on('error', onError)
  // It may already have been killed.
  guard.stdin.on('error', () => {})
  guard.unref()
  return () => void guard.stdin.end('\n')
}
