/** What `mayfly init` writes for each platform, with the packed package installed: it type-checks, its tests pass, it runs. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { targets } from '../../deploy/targets.ts'
import { CLIENTS } from '../contract/clients.ts'
import { type PackedPackage, packPackage, ROOT, run } from '../package/_packed.ts'

/** Where a project's dependencies are found without a network; the platforms' large tools are only needed to deploy. */
const SOURCES = [ROOT, join(ROOT, 'test/runtimes/lambda/ric'), join(ROOT, 'test/platform-clis')]

let packed: PackedPackage
let folder: string
beforeAll(() => {
  packed = packPackage()
  folder = mkdtempSync(join(tmpdir(), 'mayfly-init-'))
})
afterAll(() => {
  packed?.remove()
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
})

describe.each([...targets.keys()])('mayfly init --target %s', (target) => {
  it('type-checks, passes its tests, builds, and serves official clients', async () => {
    const cli = join(packed.installed, 'dist/deploy/cli.js')
    run(process.execPath, [cli, 'init', target, '--target', target, '--name', 'dice'], folder)
    const project = join(folder, target)
    install(project)

    run('node_modules/.bin/tsc', [], project)
    run('node_modules/.bin/vitest', ['run'], project)
    run(process.execPath, [cli, 'build', '--target', target], project)

    const server = spawn(process.execPath, [cli, 'dev', '--target', target, '--port', '0'], {
      cwd: project,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    try {
      const [line] = (await once(server.stdout.setEncoding('utf8'), 'data')) as [string]
      const url = new URL(/^ready (\S+)\n$/.exec(line)?.[1] ?? line)
      for (const { connect } of [CLIENTS[0]!, CLIENTS[2]!]) {
        await using connection = await connect(url)
        expect(await connection.call('roll_dice', { count: 2 })).toMatchObject({
          structuredContent: { rolls: [expect.any(Number), expect.any(Number)] },
        })
      }
    } finally {
      const ended = once(server, 'exit')
      server.kill('SIGTERM')
      await ended
    }
  })
})

/** Links what the project declares, and nothing else. */
function install(project: string): void {
  const manifest = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>
    devDependencies: Record<string, string>
    optionalDependencies?: Record<string, string>
  }
  const modules = join(project, 'node_modules')
  const { dependencies, devDependencies, optionalDependencies } = manifest
  for (const name of Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies })) {
    const source = SOURCES.map((root) => join(root, 'node_modules', name)).find((path) => existsSync(path))
    const target = name === 'mayfly-mcp' ? packed.installed : source
    if (target === undefined) continue
    mkdirSync(dirname(join(modules, name)), { recursive: true })
    symlinkSync(target, join(modules, name))
  }
  mkdirSync(join(modules, '.bin'), { recursive: true })
  for (const tool of ['tsc', 'vitest'])
    symlinkSync(join(ROOT, 'node_modules/.bin', tool), join(modules, '.bin', tool))
}
