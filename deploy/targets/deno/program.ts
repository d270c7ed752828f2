/** The deno binary of a project. */

import { findProgram, resolveBin } from '../../project/project-tool.ts'
import { WATCHER } from '../../run/watcher.ts'
import { CliError } from '../../terminal/cli-error.ts'

/** No update check, no prompts, no output from deno itself, and only the permissions that a server needs. */
export const DENO_RUN = [
  'run',
  '--quiet',
  '--no-prompt',
  '--no-remote',
  '--no-npm',
  '--no-lock',
  '--allow-net',
  '--allow-env',
  ...['--preload', WATCHER],
] as const

export const DENO_OFFLINE = { DENO_NO_UPDATE_CHECK: '1', NO_COLOR: '1' } as const

/**
 * Lets running calls end after a signal, and ends after 7 seconds or a second signal. Source that follows `const running = Deno.serve(…)`.
 * Windows has no SIGTERM. `first` is a statement that runs before.
 */
export const denoDrain = (
  first = '',
): string => `const signals = Deno.build.os === 'windows' ? ['SIGINT'] : ['SIGINT', 'SIGTERM']
const drain = () => {
  for (const signal of signals) Deno.removeSignalListener(signal, drain)
  Deno.unrefTimer(setTimeout(() => Deno.exit(0), 7000))
  ${first}void running.shutdown()
}
for (const signal of signals) Deno.addSignalListener(signal, drain)
`

/** The project's `deno` (the npm package), otherwise the one on the PATH. Throws `CliError`. */
export function denoProgram(cwd: string): string {
  const installed = findProgram('deno')
  try {
    return resolveBin('deno', cwd)
  } catch {
    if (installed !== undefined) return installed
    throw new CliError('deno is not installed: run npm install --save-dev deno, or see https://deno.com')
  }
}
