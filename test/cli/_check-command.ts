/** Runs `mayfly check` as a separate process, as a user does. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Output } from './_dev-process.ts'

const CLI = fileURLToPath(new URL('../../deploy/cli.ts', import.meta.url))

export async function runCheck(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Output> {
  const child = spawn(process.execPath, [CLI, 'check', ...args], {
    env: { ...process.env, NO_COLOR: '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] += text
    })
  }
  const [code] = await once(child, 'close')
  return { code: code as number | null, ...output }
}
