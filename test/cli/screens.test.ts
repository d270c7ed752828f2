/**
 * What a person reads of each command is in `screens/`, a file each: read them when they change. `vitest run test/cli/screens.test.ts -u`
 * writes them.
 */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { protectedServer } from './_check-servers.ts'
import { Project } from './_dev-process.ts'
import { expectScreen, leftOf, Screen } from './_screen.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** Lines to type, and paths, are one line each. */
const COMMANDS = /^(?:\$ | {3}|Next: | {2}npx |wrote )/

interface Shown {
  readonly project: Project
  readonly cwd?: string
  readonly exitCode?: number
}

async function show(
  name: string,
  args: readonly string[],
  { project, cwd = project.folder, exitCode = 0 }: Shown,
): Promise<void> {
  await using screen = new Screen(args, cwd)
  expect(await screen.end(), screen.text).toBe(exitCode)
  const text = leftOf(screen.raw)
    .replaceAll(project.folder, '/home/ann')
    .replaceAll(process.version, 'v24.0.0')
    .replaceAll(/mayfly-mcp \d+\.\d+\.\d+/g, 'mayfly-mcp 0.1.0')
    .replaceAll(/[\d.]+ KB/g, '100 KB')
  await expectScreen(`$ mayfly ${args.join(' ')}\n${text}`, name, COMMANDS)
}

/** A new project, whose packages are those of this one. */
async function newProject(...targets: readonly string[]): Promise<Project & { readonly app: string }> {
  const project = new Project()
  const args = ['init', 'shop', ...targets.flatMap((target) => ['--target', target])]
  await using screen = new Screen(args, project.folder)
  expect(await screen.end(), screen.text).toBe(0)
  const app = join(project.folder, 'shop')
  mkdirSync(join(app, 'node_modules'))
  symlinkSync(ROOT, join(app, 'node_modules/mayfly-mcp'))
  for (const name of ['zod', '@hono'])
    symlinkSync(join(ROOT, 'node_modules', name), join(app, 'node_modules', name))
  return Object.assign(project, { app })
}

describe.skipIf(process.platform !== 'linux')('a terminal of 80 columns', { timeout: 180_000 }, () => {
  test('init', async () => {
    await using project = new Project()
    await show('init', ['init', 'shop', '--target', 'node', '--target', 'vercel'], { project })
  })

  test('doctor, build and deploy of a new project', async () => {
    await using project = await newProject('node', 'vercel')
    await show('doctor', ['doctor'], { project, cwd: project.app })
    await show('doctor-verbose', ['doctor', '--target', 'vercel', '--verbose'], { project, cwd: project.app })
    await show('build', ['build', '--target', 'node'], { project, cwd: project.app })
    await show('deploy-dry-run', ['deploy', '--target', 'vercel', '--dry-run', '--secret', 'MAYFLY_SECRET'], {
      project,
      cwd: project.app,
    })
    writeFileSync(join(project.app, '.env'), 'MAYFLY_SECRET=short\n')
    await show('doctor-error', ['doctor', '--target', 'vercel'], { project, cwd: project.app, exitCode: 1 })
  })

  test('check of a server that wants a token', async () => {
    await using project = new Project()
    await using server = await protectedServer()
    await show('check-401', ['check', server.url.href], { project })
  })

  test('ingest', async () => {
    await using project = new Project()
    project.write('a.md', '# A\n\nHello.\n')
    project.write('embed.mjs', 'export default (texts) => texts.map((text) => [text.length, 1])')
    const args = ['ingest', 'a.md', '--store', './index.json', '--index', 'docs', '--model', './embed.mjs']
    await show('ingest', args, { project })
  })

  // The colours themselves, of light and dark terminals alike, are those that styles.test.ts allows.
  test('help, a mistake and a check say the same with NO_COLOR, and nothing has a style then', async () => {
    await using project = new Project()
    await using server = await protectedServer()
    for (const args of [['--help'], ['buid'], ['check', server.url.href]]) {
      await using coloured = new Screen(args, project.folder)
      await using plain = new Screen(args, project.folder, { NO_COLOR: '1' })
      expect(await plain.end(), plain.text).toBe(await coloured.end())
      const [plainWords, words] = [plain, coloured].map(({ raw }) =>
        leftOf(raw).replaceAll(/\d+ ms/g, '84 ms'),
      )
      expect(plainWords).toBe(words)
      expect(coloured.raw).toContain('\u001b[')
      expect(plain.raw.replaceAll('\r\u001b[K', '')).not.toContain('\u001b')
    }
  })
})
