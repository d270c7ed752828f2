/** The deno binary of a project. */

import { findProgram, resolveBin } from '../../project/project-tool.ts'
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
] as const

export const DENO_OFFLINE = { DENO_NO_UPDATE_CHECK: '1', NO_COLOR: '1' } as const

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
