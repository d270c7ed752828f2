/** Serves an entry with the built `mayfly dev`, on the platform's own runtime and a free port. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Served } from '../contract/contract.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** Resolves once the server answers; rejects with everything it said when it stops before that. */
export async function serveDev(
  entry: string,
  target: string,
  cwd = ROOT,
  env: { readonly [name: string]: string } = {},
): Promise<Served> {
  const args = [`${ROOT}dist/deploy/cli.js`, 'dev', entry, '--target', target, '--port', '0']
  const child = spawn(process.execPath, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exited = once(child, 'close')
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text
  })
  const url = await new Promise<URL>((resolve, reject) => {
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text
      const ready = /^ready (\S+)$/m.exec(output)
      if (ready !== null) resolve(new URL(ready[1]!))
    })
    void exited.then(() => reject(new Error(`${target} stopped before it was ready:\n${errors}`)))
  })
  return {
    url,
    stop: async () => {
      child.kill('SIGTERM')
      await exited
    },
  }
}
