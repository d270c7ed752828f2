/** Runs a script of this folder in a fresh `node`, so that nothing measured before is warm, and reads its report. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)

export interface ChildOptions {
  readonly args: readonly string[]
  readonly nodeOptions?: readonly string[]
  readonly timeoutMs: number
}

/**
 * The script's standard output as JSON.
 *
 * @throws Error with the script's standard error when it fails or takes longer than `timeoutMs`.
 */
export async function runChild(
  script: string,
  { args, nodeOptions = [], timeoutMs }: ChildOptions,
): Promise<unknown> {
  const path = fileURLToPath(new URL(script, import.meta.url))
  const { stdout } = await run(process.execPath, [...nodeOptions, path, ...args], { timeout: timeoutMs })
  return JSON.parse(stdout)
}
