/** What `mayfly init --with` writes, with the packed package installed: it type-checks, its own tests pass, and it is served. */
import { exec, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isEveryTarget } from '../_some-targets.ts'
import { TSC } from '../_type-check.ts'
import { newProject } from './_new-project.ts'
import { BIN, type PackedPackage, run, unpackPackage } from './_packed.ts'

const inShell = promisify(exec)

let packed: PackedPackage
let folder: string
beforeAll(() => {
  packed = unpackPackage()
  folder = mkdtempSync(join(tmpdir(), 'mayfly-templates-'))
})
afterAll(() => {
  packed?.remove()
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
})

const COMBINATIONS = [
  ...(isEveryTarget ? [['auth'], ['asking'], ['hono'], ['fromSdk'], ['tasks'], ['events']] : []),
  ['auth', 'asking', 'hono'],
  ['auth', 'tasks', 'hono'],
  ['auth', 'hono', 'fromSdk'],
  ['events', 'asking', 'hono'],
]

describe.each(COMBINATIONS.map((templates) => templates.join(',')))('mayfly init --with %s', (templates) => {
  it('type-checks, passes its own tests, and is served', async () => {
    const cli = join(packed.installed, 'dist/deploy/cli.js')
    const name = `shop-${templates.replaceAll(',', '-').toLowerCase()}`
    const options = templates.split(',').flatMap((template) => ['--with', template])
    const project = newProject(packed.installed, folder, name, ['--target', 'node', ...options])

    run(process.execPath, [TSC], project)
    const tests = run(join(BIN, 'vitest'), ['run'], project)
    expect(tests).toMatch(/Tests {2}[1-6] passed/)

    const server = spawn(process.execPath, [cli, 'dev', '--port', '0'], {
      cwd: project,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const ended = once(server, 'exit')
    try {
      const [line] = (await once(server.stdout.setEncoding('utf8'), 'data')) as [string]
      const [, url = line] = /^ready (\S+)\n$/.exec(line) ?? []
      const token = /^API_TOKEN=(\S+)$/m.exec(readFileSync(join(project, '.env'), 'utf8'))?.[1]
      expect(token !== undefined).toBe(/auth|events/.test(templates))
      expect(await roll(url, token)).toMatch(/"rolls":\[\d,\d\]/)
      for (const call of printedCalls(project)) {
        const printed = await inShell(call.replace(/(?<=^curl )\S+/, url), { cwd: project })
        expect(printed.stdout, call).toMatch(/"rolls":\[\d,\d\]/)
      }
      if (token !== undefined) expect(await roll(url, 'another-token-of-nobody')).not.toContain('rolls')
      if (templates.includes('hono')) {
        expect(await (await fetch(new URL('/hello', url))).text()).toContain('dice')
      }
    } finally {
      server.kill('SIGTERM')
      await ended
    }
  })
})

it.each(['node', 'bun'])('a server for %s imports a module of Node → type-checks', (target) => {
  const project = newProject(packed.installed, folder, `modules-${target}`, ['--target', target])
  const file = join(project, 'src/server.ts')
  const source = readFileSync(file, 'utf8')
  writeFileSync(
    file,
    `import { readFile } from 'node:fs/promises'\n${source}\nexport const read = readFile\n`,
  )

  run(process.execPath, [TSC], project)
})

it.each(['node', 'bun'])('npm start of a project for %s has the variables of .env', async (target) => {
  const cli = join(packed.installed, 'dist/deploy/cli.js')
  const project = newProject(packed.installed, folder, `started-${target}`, [
    '--target',
    target,
    '--with',
    'auth',
  ])
  run(process.execPath, [cli, 'build'], project)
  const token = /^API_TOKEN=(\S+)$/m.exec(readFileSync(join(project, '.env'), 'utf8'))?.[1]

  const server = spawn('npm', ['start', '--silent'], {
    cwd: project,
    env: { ...process.env, PORT: '0', PATH: `${BIN}:${process.env.PATH}` },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const ended = once(server, 'close')
  try {
    const lines = createInterface(server.stderr)
    const url = await Promise.race([listening(lines), ended])
    expect(await roll(new URL('/mcp', String(url)).href, token)).toMatch(/"rolls":\[\d,\d\]/)
  } finally {
    server.kill('SIGTERM')
    await ended
  }
})

/** Where it listens, which it says in a line. */
async function listening(lines: AsyncIterable<string>): Promise<string | undefined> {
  for await (const line of lines) {
    const [, url] = /^listening on (\S+)$/.exec(line) ?? []
    if (url !== undefined) return url
  }
  return undefined
}

it.each([
  ['fromSdk,asking', 'pass --with fromSdk or --with asking'],
  ['fromSdk,tasks', 'pass --with fromSdk or --with tasks'],
  ['fromSdk,events', 'pass --with fromSdk or --with events'],
  ['tasks,events', 'pass --with tasks or --with events'],
  ['redis', 'there is no template "redis": pass one of auth, sign-in, asking, tasks, events, hono, fromSdk'],
  ['auth,sign-in', 'pass --with auth or --with sign-in'],
  ['tasks', 'vercel-edge has no store that can keep tasks', '--target', 'vercel-edge'],
  ['events', 'vercel-edge has no store that can keep events', '--target', 'vercel-edge'],
  ['sign-in', 'vercel-edge has no store that can keep connections', '--target', 'vercel-edge'],
  ['sign-in', 'node and lambda keep connections in different ways', '--target', 'lambda'],
  ['tasks', 'node and cloudflare keep tasks in different ways', '--target', 'cloudflare'],
])('mayfly init --with %s → one line', (templates, reason, ...more) => {
  const cli = join(packed.installed, 'dist/deploy/cli.js')
  const args = [cli, 'init', 'refused', '--target', 'node', '--with', templates, ...more]
  expect(() => run(process.execPath, args, folder)).toThrow(reason)
})

/** The calls that README.md and AGENTS.md show, each on one line. */
function printedCalls(project: string): string[] {
  const calls = ['README.md', 'AGENTS.md'].flatMap((name) => {
    const text = readFileSync(join(project, name), 'utf8').replaceAll(/ \\\n\s*/g, ' ')
    return text.match(/^curl .*$/gm) ?? []
  })
  expect(calls).toHaveLength(2)
  return calls
}

async function roll(url: string, token: string | undefined): Promise<string> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'roll_dice', arguments: { count: 2 } },
    }),
  })
  return (await response.text()).replaceAll('\\"', '"')
}
