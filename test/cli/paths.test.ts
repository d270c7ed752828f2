/** Projects in folders of any name, and other places where a command finds itself. */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { targets } from '../../deploy/targets/all.ts'
import { areAlive, MayflyProcess, Project, stopAll, until } from './_dev-process.ts'
import { STEERING } from './_terminal.ts'

afterAll(stopAll)

const TIMEOUT_MS = 180_000
const SERVER = `export default { fetch: () => Response.json({ jsonrpc: '2.0', id: 1, result: {} }) }`
const NAME = `it's a "b"\nç 日 #1 %20 ;$(id) & {c,d} [e]`

function arrange(project: Project, name: string): { folder: string; entry: string } {
  const folder = join(project.folder, name)
  mkdirSync(folder, { recursive: true })
  const entry = `my server's #1 é.ts`
  writeFileSync(join(folder, entry), SERVER)
  return { folder, entry }
}

describe('a project in a folder of any name', { timeout: TIMEOUT_MS }, () => {
  test.for([...targets.keys()])('is built for %s', async (target) => {
    await using project = new Project()
    const { folder, entry } = arrange(project, NAME)
    const { code, stdout, stderr } = await new MayflyProcess(['build', entry, '--target', target], folder)
      .exited
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^built [^\n]+\n$/)
    expect(readdirSync(folder)).toContain('dist')
  })

  test.for([
    ['preview', 'node'],
    ['preview', 'cloudflare'],
    ['dev', 'node'],
    ['dev', 'bun'],
  ] as const)('is served by %s for %s', async ([command, target]) => {
    await using project = new Project()
    const { folder, entry } = arrange(project, NAME)
    await using mayfly = new MayflyProcess([command, entry, '--target', target, '--port', '0'], folder)
    await mayfly.ready()
    expect(mayfly.stdout).toMatch(/^ready http:\/\/127\.0\.0\.1:\d+\/mcp\n$/)
  })

  test.for(['st*r', 'back\\slash'])('but %s, which no bundler reads → one line', async (name) => {
    await using project = new Project()
    const { folder, entry } = arrange(project, name)
    const { code, stderr } = await new MayflyProcess(['build', entry, '--target', 'node'], folder).exited
    expect(code).toBe(1)
    expect(stderr).toMatch(/^mayfly: [^\n]+ has a \* or a \\ in its path[^\n]+\n$/)
  })

  test('names of what is wrong are shown without their control characters', async () => {
    await using project = new Project()
    mkdirSync(join(project.folder, 'occupied'))
    writeFileSync(join(project.folder, 'occupied/\u001b[2J\nb'), '')
    for (const args of [
      ['build', 'a\u001b[2J\nb.ts'],
      ['\u001b[2J\nb'],
      ['deploy', '--secret', 'A\u001b[2J\nB'],
      ['dev', '--\u001b[2J'],
      ['build', 'a.ts', '\u001b[2J\nb'],
      ['init', 'occupied', '--target', 'node'],
      ['init', 'new', '\u001b[2J\nb', '--target', 'node'],
      ['init', 'new', '--target', 'node', '--name', '\u001b[2J\nb'],
    ]) {
      const { stderr } = await new MayflyProcess(args, project.folder).exited
      expect(stderr, args.join(' ')).toMatch(/^mayfly: [^\n]+\n$/)
      expect(stderr, args.join(' ')).not.toContain('\u001b')
    }
  })

  test('a new project in a folder of such a name is shown without them', async () => {
    await using project = new Project()
    const args = ['init', 'a\u001b[2J', '--target', 'node', '--name', 'shop']
    const { code, stdout } = await new MayflyProcess(args, project.folder).exited
    expect(code).toBe(0)
    expect(stdout).not.toMatch(STEERING)
  })
})

describe('a folder that cannot be written', { timeout: TIMEOUT_MS }, () => {
  test.for([
    ['dev', 'node'],
    ['dev', 'bun'],
    ['stdio', undefined],
  ] as const)('mayfly %s %s → one line', async ([command, target]) => {
    await using project = new Project()
    project.write('server.ts', SERVER)
    project.write('node_modules', 'a file')
    const args = target === undefined ? [command] : [command, '--target', target, '--port', '0']
    const { code, stdout, stderr } = await new MayflyProcess(args, project.folder).exited
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(/^mayfly: cannot write [^\n]+node_modules[^\n]+\n$/)
  })
})

test('SIGTERM ends the server that mayfly doctor is loading, and leaves no file', {
  timeout: TIMEOUT_MS,
}, async () => {
  await using project = new Project()
  mkdirSync(join(project.folder, 'tmp'))
  project.write(
    'server.ts',
    `import { writeFileSync } from 'node:fs'
process.on('SIGTERM', () => {})
writeFileSync('loading', '')
setInterval(() => {}, 1000)
await new Promise(() => {})
export default {}`,
  )
  const env = { TMPDIR: join(project.folder, 'tmp') }
  const mayfly = new MayflyProcess(['doctor', '--target', 'node'], project.folder, undefined, env)
  await until(() => existsSync(join(project.folder, 'loading')))
  const children = mayfly.descendants()
  const { code } = await mayfly.signal('SIGTERM')
  expect(code).toBe(143)
  await until(() => !areAlive(children))
  expect(readdirSync(env.TMPDIR)).toEqual([])
})
