/** A user's project with the platforms' real tools, deployed by the built `mayfly`. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { startPreview } from '../../deploy/commands/preview.ts'
import type { Target } from '../../deploy/contract/target.ts'
import { testPort } from '../_port.ts'
import { CLIENTS } from '../contract/clients.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const CLI = join(ROOT, 'dist/deploy/cli.js')

/** Handed over in each of these tests; nothing but the platform's secret store may come to hold it. */
export const SECRET = 'b6f1e0c4a9d84f2e8c7b5a3910de47aa'

export interface DeployProject extends Disposable {
  readonly folder: string
  write(path: string, text: string): void
  deploy(target: string, args: readonly string[], env: Record<string, string>): Promise<Output>
  /** Any command of `mayfly`. */
  run(args: readonly string[], env: Record<string, string>): Promise<Output>
  /** Every file that `mayfly build` has written, by path. */
  artefact(target: string): Map<string, string>
}

export interface Output {
  readonly code: number | null
  readonly output: string
}

/** The contract's fixture as `server.ts` of a project called shop, whose `.env` has the secret. */
export function createProject(tools: { readonly [name: string]: string }): DeployProject {
  const folder = mkdtempSync(join(tmpdir(), 'mayfly-deploy-'))
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  cpSync(join(ROOT, 'test/contract/fixture.ts'), join(folder, 'server.ts'))
  write('package.json', '{ "name": "shop", "type": "module" }')
  write('.env', `MAYFLY_SECRET=${SECRET}\n`)
  mkdirSync(join(folder, 'node_modules'))
  const links = { 'mayfly-mcp': ROOT, zod: join(ROOT, 'node_modules/zod'), ...tools }
  for (const [name, path] of Object.entries(links)) symlinkSync(path, join(folder, 'node_modules', name))
  const run = async (args: readonly string[], env: Record<string, string>): Promise<Output> => {
    const child = spawn(process.execPath, [CLI, ...args], {
      cwd: folder,
      env: { ...process.env, ...env, HOME: folder },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text
      })
    }
    const [code] = (await once(child, 'close')) as [number | null]
    return { code, output }
  }
  return {
    folder,
    write,
    // The address that a double tells does not exist.
    deploy: (target, args, env) => run(['deploy', '--target', target, '--no-check', ...args], env),
    run,
    artefact: (target) => {
      const out = join(folder, 'dist', target)
      const files = readdirSync(out, { recursive: true, withFileTypes: true }).filter((file) => file.isFile())
      return new Map(
        files.map(({ parentPath, name }) => {
          const path = join(parentPath, name)
          return [path.slice(out.length + 1), readFileSync(path, 'utf8')]
        }),
      )
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }),
  }
}

/** A package of this repository, or of the platforms' tools beside this file (`MAYFLY_TEST_CLIS`: in another folder). */
export function installed(name: string, where: 'repository' | 'tools'): string {
  const tools = process.env.MAYFLY_TEST_CLIS ?? fileURLToPath(new URL('.', import.meta.url))
  const folder = join(where === 'tools' ? tools : ROOT, 'node_modules', name)
  return existsSync(folder) ? folder : join(ROOT, 'node_modules', name)
}

/** Runs what a platform was sent, and lets each official client call it. */
export async function expectToServe(
  target: Pick<Target, 'preview'>,
  uploaded: string,
  folder: string,
): Promise<void> {
  const port = await testPort()
  const project = { cwd: folder, entry: join(folder, 'server.ts'), name: 'shop' }
  const log = openSync(join(folder, 'uploaded.log'), 'w')
  const running = startPreview(target, project, uploaded, { port, output: log })
  try {
    await running.ready
    for (const { connect } of CLIENTS) {
      await using connection = await connect(new URL(`http://127.0.0.1:${port}${running.path ?? '/mcp'}`))
      expect(await connection.call('add', { a: 2, b: 3 })).toMatchObject({ structuredContent: { sum: 5 } })
    }
  } finally {
    await running.stop()
    closeSync(log)
  }
}
