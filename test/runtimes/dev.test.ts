/** `mayfly dev` on the targets whose artefact is what runs: built, served, and both again after a change. */
import { mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { targets } from '../../deploy/targets/all.ts'
import { testPort } from '../_port.ts'
import { areAlive, MayflyProcess, Project, stopAll, until } from '../cli/_dev-process.ts'

afterAll(stopAll)

const TIMEOUT_MS = 180_000

/** They have a way of their own to reload, and tests of their own. */
const OTHERS = ['cloudflare', 'node']

/** Of a package of its own, since it compiles. */
const RIC = join(import.meta.dirname, 'lambda/ric/node_modules/aws-lambda-ric')

/** A folder of a user's who has the platform's own runtime installed. */
function createProject(): Project {
  const project = new Project()
  mkdirSync(join(project.folder, 'node_modules'))
  symlinkSync(RIC, join(project.folder, 'node_modules/aws-lambda-ric'))
  return project
}

const names = [...targets.keys()].filter((name) => !OTHERS.includes(name))

const server = (version: string): string => `
  export default {
    async fetch(request: Request): Promise<Response> {
      console.log('a line of the server')
      return Response.json({ jsonrpc: '2.0', id: 1, result: { version: '${version}' } })
    },
  }
`

async function versionAt(url: string): Promise<string> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers, body: '{}' })
  return ((await response.json()) as { result: { version: string } }).result.version
}

const isServing = (url: string, version: string): Promise<boolean> =>
  versionAt(url).then(
    (served) => served === version,
    () => false,
  )

describe.for(names)('%s', { timeout: TIMEOUT_MS }, (target) => {
  test('one ready line; a change is served, a broken one reported; SIGINT leaves no process behind', async () => {
    await using project = createProject()
    project.write('server.ts', `export { default } from './other.ts'`)
    project.write('other.ts', server('1'))
    const port = String(await testPort())
    await using mayfly = new MayflyProcess(['dev', '--target', target, '--port', port], project.folder)
    await mayfly.ready()
    const url = /^ready (http:\/\/127\.0\.0\.1:\d+\/\S*mcp)\n$/.exec(mayfly.stdout)?.[1] ?? ''
    expect(new URL(url).port).toBe(port)
    expect(await versionAt(url)).toBe('1')

    project.write('other.ts', 'export default {{{')
    await mayfly.says('other.ts:1:')
    project.write('other.ts', server('2'))
    await until(() => isServing(url, '2'))

    const started = mayfly.descendants()
    expect(started.length).toBeGreaterThan(0)
    const { code, stdout, stderr } = await mayfly.signal('SIGINT')
    expect(code).toBe(0)
    expect(stdout.split('\n')).toHaveLength(2)
    expect(stderr).toContain('a line of the server')
    await until(() => !areAlive(started))
  })

  test('SIGKILL → no process left, the port is free, and the next start removes what was left', async () => {
    await using project = createProject()
    project.write('server.ts', server('1'))
    const port = String(await testPort())
    const args = ['dev', '--target', target, '--port', port]
    const left = (): string[] => readdirSync(join(project.folder, 'node_modules/.mayfly'))
    await using first = new MayflyProcess(args, project.folder)
    await first.ready()
    const started = first.descendants()
    const [name] = left()
    await first.signal('SIGKILL')
    await until(() => !areAlive(started))
    expect(left()).toEqual([name])

    await using second = new MayflyProcess(args, project.folder)
    await second.ready()
    expect(left()).not.toContain(name)
    await second.signal('SIGINT')
    expect(left()).toEqual([])
  })

  test.for([
    ['export const server = 1', 'server.ts has no default export'],
    ['export default {}', 'server.ts (line 1) has no fetch function'],
    ['export default {\n  fetch( }', 'server.ts:2:'],
    [`import 'not-installed'\n${server('1')}`, 'not-installed'],
    [`${server('1')}\nthrow new TypeError('tools.x needs a description')`, 'tools.x needs a description'],
  ] as const)('an entry %j → exit code 1, and why', async ([entry, reason]) => {
    await using project = createProject()
    project.write('server.ts', entry)
    const port = String(await testPort())
    const args = ['dev', '--target', target, '--port', port]
    const { code, stdout, stderr } = await new MayflyProcess(args, project.folder).exited
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain(reason)
    // A package may be looked for by the bundler, and each of its complaints is a line.
    expect(stderr).toMatch(/^(?:mayfly: [^\n]+\n)+$/)
  })
})
