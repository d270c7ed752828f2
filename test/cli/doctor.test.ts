/** `mayfly doctor`, spawned for real. */
import { readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { targets } from '../../deploy/targets/all.ts'
import { MayflyProcess, type Output, Project } from './_dev-process.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const STRONG = 'b6f1e0c4a9d84f2e8c7b5a3910de47aa'

interface Report {
  target: string
  findings: { level: string; message: string }[]
  degrades: { features: string[]; reason: string; remedy: string }[]
}

function arrange(config = ''): Project {
  const project = new Project()
  project.linkPackage()
  project.write(
    'server.ts',
    `import { createMemoryBus, createTool, MCPServer } from 'mayfly-mcp'
console.log('a line of the server')
const hello = createTool({ id: 'hello', description: 'Says hello', execute: () => 'hello' })
export default new MCPServer({ id: 'a', name: 'a', version: '1', tools: { hello }, ${config} })
export { createMemoryBus }`,
  )
  return project
}

function doctor(project: Project, ...args: string[]): Promise<Output> {
  return new MayflyProcess(['doctor', ...args], project.folder).exited
}

async function report(project: Project, target = 'node'): Promise<Report & { code: number | null }> {
  const { code, stdout } = await doctor(project, '--target', target, '--json')
  return { code, ...(JSON.parse(stdout) as Report) }
}

describe('mayfly doctor', { timeout: 180_000 }, () => {
  test('names the static token that is not set in the environment', async () => {
    await using project = arrange(`auth: staticTokens(({ CI_TOKEN, ANN_TOKEN }) => [
      { token: CI_TOKEN, clientId: 'ci' }, { token: ANN_TOKEN, clientId: 'ann' }])`)
    project.write(
      'server.ts',
      `import { staticTokens } from 'mayfly-mcp/auth'\n${readFileSync(join(project.folder, 'server.ts'), 'utf8')}`,
    )
    project.write('.env', 'ANN_TOKEN=a-token-that-is-long-enough\n')

    const { findings } = await report(project)

    const ofAuth = findings.filter(({ message }) => message.startsWith('auth: '))
    expect(ofAuth).toEqual([
      { level: 'error', message: expect.stringMatching(/^auth: The static token of "ci" must have/) },
    ])
  })

  test('says what is there, what is missing, and what will degrade', async () => {
    await using project = arrange()

    const { code, stdout, stderr } = await doctor(project, '--target', 'node', '--verbose')

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^Node\n {2}ok {6}mayfly-mcp \d/)
    expect(stdout).toContain('ok      the server loads, with 1 tool\n')
    expect(stdout).toContain('warning MAYFLY_SECRET is not set')
    expect(stdout).toMatch(/What degrades[\s\S]*tools\.listChanged \(legacy\)/)
    // One long-lived process needs no bus.
    expect(stdout).not.toContain('No bus is configured')
    expect((await doctor(project, '--target', 'cloudflare', '--verbose')).stdout).toMatch(
      /tools\.listChanged \(modern\)[\s\S]*No bus is configured/,
    )
    expect(stdout).not.toContain('a line of the server')
  })

  test('what the server does not use is counted, and told in full by --verbose and --json', async () => {
    await using project = arrange()
    const { stdout } = await doctor(project, '--target', 'node')
    const [, count] = /\n(\d+) features degrade here, unused by your server: --verbose\n\nNext: /.exec(
      stdout,
    )!
    expect(stdout).not.toMatch(/listChanged|What degrades|and degrades/)

    const { degrades } = await report(project)
    const features = degrades.flatMap((one) => one.features.map((name) => name.split(' ')[0]))
    expect(new Set(features).size).toBe(Number(count))
    const verbose = (await doctor(project, '--target', 'node', '--verbose')).stdout
    for (const { reason } of degrades) expect(verbose).toContain(reason)
    expect(verbose).not.toContain('--verbose')
  })

  test.for([
    ['tools.listChanged (legacy)', 'server.tools.notifyListChanged()'],
    ['resources.subscribe (legacy)', `server.resources.notifyUpdated({ uri: 'a://b' })`],
    ['cancellation (legacy)', 'ctx.signal.throwIfAborted()'],
    ['sampling (legacy)', 'ctx.createMessage({ messages: [], maxTokens: 1 })'],
    ['sessions (modern), sessions (legacy)', `ctx.can('sessions')`],
  ] as const)('a server that uses %s is told what happens to it', async ([feature, use]) => {
    await using project = arrange()
    const text = readFileSync(join(project.folder, 'server.ts'), 'utf8')
    project.write(
      'server.ts',
      text.replace("() => 'hello'", `(_input, ctx) => { const server = {}; return ${use} }`),
    )
    const { stdout } = await doctor(project, '--target', 'node')
    expect(stdout).toContain(`\nWhat your server uses, and degrades here\n  ${feature}\n    `)
    expect(stdout).toMatch(/\n\n\d+ more features degrade here, unused by your server: --verbose\n/)
  })

  describe('a project for two targets', () => {
    function arrangeTwo(): Project {
      const project = arrange()
      const mayfly = { targets: ['node', 'cloudflare'] }
      project.write('package.json', JSON.stringify({ name: 'a', type: 'module', mayfly }))
      return project
    }

    test('both are examined: what they share is told once, and each says what comes next', async () => {
      await using project = arrangeTwo()
      const { stdout } = await doctor(project)
      expect(stdout).toMatch(/^Node and Cloudflare Workers\n[\s\S]*\n\nNode\n[\s\S]*\n\nCloudflare Workers\n/)
      for (const message of [
        `Node ${process.version}`,
        'the server loads, with 1 tool',
        'MAYFLY_SECRET is not set',
      ])
        expect(stdout.split(message)).toHaveLength(2)
    })

    test('--json is a list of what each target alone prints', async () => {
      await using project = arrangeTwo()
      const { code, stdout } = await doctor(project, '--json')
      const reports = JSON.parse(stdout) as Report[]
      const alone = [await report(project, 'node'), await report(project, 'cloudflare')]
      expect(reports).toEqual(alone.map(({ code: _, ...one }) => one))
      expect(code).toBe(Math.max(...alone.map((one) => one.code ?? 0)))
    })

    test('--target twice examines these two, and one that is wrong is exit code 1', async () => {
      await using project = arrangeTwo()
      project.write('.env', 'MAYFLY_SECRET=short\n')
      const args = ['--target', 'lambda', '--target', 'node', '--target', 'lambda']
      const { code, stdout } = await doctor(project, ...args)
      expect(code).toBe(1)
      expect(stdout).toMatch(
        /^AWS Lambda and Node\n[\s\S]*error {3}MAYFLY_SECRET[\s\S]*\n\nNext: mend what is marked "error"/,
      )
    })
  })

  test.for([
    ['node', '', 'npx mayfly build --target node, and npx mayfly preview --target node to try the result'],
    ['vercel', '', 'npx mayfly deploy --target vercel'],
    [
      'vercel',
      'MAYFLY_SECRET=8c1f5e0b7a294d36-b0e2c9d4f7a81356\nSHOP_KEY=0123456789\n',
      'npx mayfly deploy --target vercel --secret MAYFLY_SECRET --secret SHOP_KEY',
    ],
  ] as const)('--target %s with %j in .env ends with what to do next', async ([target, env, next]) => {
    await using project = arrange()
    project.write('.env', env)
    const { stdout } = await doctor(project, '--target', target)
    expect(stdout.split('\n').slice(-3)).toEqual(['', `Next: ${next}`, ''])
    expect(stdout).not.toContain('0123456789')
  })

  test('what to do next names the entry, if that is not the default one', async () => {
    await using project = arrange()
    project.write('my app.ts', `export { default } from './server.ts'`)
    const { stdout } = await doctor(project, 'my app.ts', '--target', 'vercel')
    expect(stdout).toContain("\nNext: npx mayfly deploy 'my app.ts' --target vercel\n")
  })

  test('what is wrong is to be mended first', async () => {
    await using project = arrange()
    project.write('.env', 'MAYFLY_SECRET=short\n')
    const { code, stdout } = await doctor(project, '--target', 'vercel')
    expect(code).toBe(1)
    expect(stdout).toMatch(/\n\nNext: mend what is marked "error", then run this again\n$/)
  })

  test.for([
    ['', 'warning', 'does not know its public URL: set http.publicUrl'],
    ["http: { publicUrl: 'https://shop.example/mcp' },", 'ok', 'knows its public URL'],
    ['http: { trustProxy: true },', 'ok', 'knows its public URL'],
  ] as const)('on a machine with auth and %j → %s', async ([http, level, message]) => {
    await using project = arrange(`auth: { admit: () => ({ ok: true }) }, ${http}`)
    const { findings } = await report(project, 'node')
    expect(findings).toContainEqual({ level, message: expect.stringContaining(message) })
  })

  test.for([...targets.keys()])(
    '--target %s has something to say, and nothing of it is wrong',
    async (target) => {
      await using project = arrange()
      const { findings, code } = await report(project, target)
      // What the platform's tools are missing in an empty project is named, with the command that installs it.
      const wrong = findings.filter(({ level }) => level === 'error')
      for (const { message } of wrong) expect(message).toMatch(/npm install/)
      expect(code).toBe(wrong.length > 0 ? 1 : 0)
      expect(findings.length).toBeGreaterThan(3)
    },
  )

  test.for([
    [`MAYFLY_SECRET=${STRONG}`, 'ok', 'MAYFLY_SECRET is set (.env) and strong'],
    ['MAYFLY_SECRET=short', 'error', 'MAYFLY_SECRET (.env) is weak'],
    [`MAYFLY_SECRET=${'a'.repeat(40)}`, 'error', 'MAYFLY_SECRET (.env) is weak'],
  ] as const)('a secret %s → %s', async ([line, level, message]) => {
    await using project = arrange()
    project.write('.env', line)
    const { findings, code } = await report(project)
    expect(findings).toContainEqual({ level, message: expect.stringContaining(message) })
    expect(JSON.stringify(findings)).not.toContain(STRONG)
    expect(code).toBe(level === 'error' ? 1 : 0)
  })

  test.for([
    ['', 'warning', 'CRON_SECRET is not set: the schedule calls /tasks and /events with it'],
    [`CRON_SECRET=${STRONG}`, 'ok', 'CRON_SECRET is set (.env) and strong'],
    ['CRON_SECRET=short', 'error', 'CRON_SECRET (.env) is weak'],
    [`CRON_SECRET=${STRONG},short`, 'error', 'CRON_SECRET (.env) is weak'],
    [`CRON_SECRET='${STRONG}, ${STRONG}'`, 'error', 'CRON_SECRET (.env) contains blanks'],
    [`CRON_SECRET=${STRONG},${STRONG}`, 'ok', 'CRON_SECRET lists 2 secrets: remove the old ones'],
  ] as const)('a schedule, and %s → %s', async ([line, level, message]) => {
    await using project = arrange()
    project.write('package.json', JSON.stringify({ type: 'module', mayfly: { cron: ['/tasks', '/events'] } }))
    project.write('.env', line)
    const { findings } = await report(project)
    expect(findings).toContainEqual({ level, message: expect.stringContaining(message) })
    expect(JSON.stringify(findings)).not.toContain(STRONG)
  })

  test('a Worker that asks for its bindings as it loads is examined, and nothing is held against it', async () => {
    await using project = arrange()
    project.write(
      'server.ts',
      `import { DurableObject, env } from 'cloudflare:workers'
import { createTool, MCPServer } from 'mayfly-mcp'
import { durableObjectBus } from 'mayfly-mcp/cloudflare'
export class Room extends DurableObject {}
const hello = createTool({ id: 'hello', description: env.TEXT, execute: () => env.NAME.get('x') })
export default new MCPServer({ id: 'a', name: 'a', version: '1', tools: { hello }, bus: durableObjectBus(env.CHANGES) })`,
    )

    const { findings } = await report(project, 'cloudflare')

    const told = findings.map(({ level, message }) => `${level} ${message}`)
    expect(told).toContainEqual(expect.stringMatching(/^ok the server loads/))
    expect(told.filter((line) => line.includes('server.ts'))).toEqual([])
  })

  test("legacy: 'arguments' without a secret is wrong", async () => {
    await using project = arrange(`legacy: 'arguments'`)
    const { findings, code } = await report(project)
    expect(findings).toContainEqual({
      level: 'error',
      message: expect.stringContaining("legacy: 'arguments' needs it"),
    })
    expect(code).toBe(1)
  })

  test("legacy: 'rendezvous' without a rendezvous is wrong", async () => {
    await using project = arrange(`legacy: 'rendezvous'`)
    const { findings } = await report(project)
    expect(findings).toContainEqual({
      level: 'error',
      message: expect.stringContaining('docs/rendezvous.md'),
    })
  })

  test('what is configured does not degrade', async () => {
    await using project = arrange('bus: createMemoryBus()')
    project.write('.env', `MAYFLY_SECRET=${STRONG}`)
    const { degrades, findings } = await report(project)
    expect(findings).toContainEqual({ level: 'ok', message: 'a bus is configured' })
    const features = degrades.flatMap((one) => one.features)
    expect(features).not.toContain('tools.listChanged (modern)')
    expect(features).toContain('tools.listChanged (legacy)')
  })

  test.for([
    ['node', 'createMemoryBus()', 0],
    ['lambda', 'createMemoryBus()', 1],
    ['cloudflare', 'createMemoryBus()', 1],
    ['lambda', '{ publish() {}, subscribe: () => () => {} }', 0],
  ] as const)('on %s the bus %s → %i warnings of a bus in memory', async ([target, bus, warnings]) => {
    await using project = arrange(`bus: ${bus}`)
    const { findings } = await report(project, target)
    const told = findings.filter(({ level, message }) => level === 'warning' && message.includes('in memory'))
    expect(told).toHaveLength(warnings)
  })

  test.for(['deno', 'lambda', 'cloudflare', 'vercel'])(
    '%s has many processes: tasks in memory are a warning, and nothing that needs one process is recommended',
    async (target) => {
      await using project = arrange()
      const remedies = (await report(project, target)).degrades.map(({ remedy }) => remedy).join('\n')
      expect(remedies).toContain('Pass `tasks` with a shared store')
      expect(remedies).not.toMatch(/createMemory|one long-lived process|in a session/)

      project.write(
        'server.ts',
        readFileSync(join(project.folder, 'server.ts'), 'utf8')
          .replace(
            "from 'mayfly-mcp'",
            "from 'mayfly-mcp'\nimport { createMemoryTasks } from 'mayfly-mcp/tasks'",
          )
          .replace('tools: {', 'tasks: createMemoryTasks(), tools: {'),
      )
      expect((await report(project, target)).findings).toContainEqual({
        level: 'warning',
        message: expect.stringContaining('tasks are kept in memory, and '),
      })
    },
  )

  test('lambda: doctor does not promise that a call notices its client leaving', async () => {
    await using project = arrange()
    const { degrades } = await report(project, 'lambda')
    const lost = degrades.find(({ features }) => features.includes('cancellation (modern)'))
    expect(lost).toMatchObject({
      features: ['cancellation (modern)', 'cancellation (legacy)'],
      reason: expect.stringContaining('does not say that a client has left'),
    })
  })

  test.for([
    ['node', []],
    ['bun', []],
    ['deno', ['Deno Deploy does not guarantee']],
    ['lambda', ['AWS Lambda does not guarantee']],
    ['cloudflare', ['Cloudflare Workers does not guarantee']],
  ] as const)(
    'sessions on %s: what the server needs is told, and whether they can be kept',
    async ([target, warned]) => {
      await using project = arrange()
      project.write(
        'server.ts',
        `import { createTool, MCPServer } from 'mayfly-mcp'
import { createSessions } from 'mayfly-mcp/node'
const hello = createTool({ id: 'hello', description: 'Says hello', execute: () => 'hello' })
export default createSessions(new MCPServer({ id: 'a', name: 'a', version: '1', tools: { hello } }))`,
      )
      const { findings, degrades } = await report(project, target)
      expect(findings).toContainEqual({ level: 'ok', message: 'the server loads, with 1 tool' })
      const warnings = findings.filter(({ message }) => message.includes('one long-lived process'))
      expect(warnings).toEqual(
        warned.map((message) => ({ level: 'warning', message: expect.stringContaining(message) })),
      )
      expect(degrades.flatMap(({ features }) => features)).not.toContain('elicitation.form (legacy)')
    },
  )

  test.for([
    [`export default { fetch: () => new Response('') }`, 'warning', 'not written with Mayfly'],
    [`export default { fetch() {}, scheduled() {} }`, 'warning', 'Hono app, export { ...app, scheduled }'],
    [
      `throw new TypeError('tools.x needs a description')\nexport default { fetch() {} }`,
      'error',
      'tools.x needs a description',
    ],
    ['export const server = 1', 'error', 'has no default export'],
    ['export default {}', 'error', 'or fromSdk(() => ...) for a server of an official SDK'],
  ] as const)('a server %j → %s', async ([source, level, message]) => {
    await using project = arrange()
    project.write('server.ts', source)
    const { findings } = await report(project)
    expect(findings).toContainEqual({ level, message: expect.stringContaining(message) })
  })

  test.for([
    ['a route', `export default new Hono().all('/mcp', mcp(server))`],
    [
      'a route of an app within the app',
      `const inner = new Hono().onError((_error, c) => c.text('', 500)).all('/mcp', mcp(server))
export default new Hono().get('/', (c) => c.text('')).route('/api', inner)`,
    ],
  ] as const)('a server that is %s of a Hono app is looked into', async ([, app]) => {
    await using project = arrange()
    symlinkSync(join(ROOT, 'node_modules/hono'), join(project.folder, 'node_modules/hono'))
    project.write(
      'server.ts',
      `import { Hono } from 'hono'
import { createTool, MCPServer } from 'mayfly-mcp'
import { mcp } from 'mayfly-mcp/hono'
const tools = { hello: createTool({ id: 'hello', description: 'Says hello', execute: () => 'hello' }) }
const server = new MCPServer({ id: 'a', name: 'a', version: '1', tools })
${app}`,
    )
    const { findings } = await report(project)
    expect(findings).toContainEqual({ level: 'ok', message: 'the server loads, with 1 tool' })
    expect(findings).not.toContainEqual({
      level: 'warning',
      message: expect.stringContaining('not written with'),
    })
  })

  test.for(['vercel', 'netlify', 'supabase'])('%s without its tool → what installs it', async (target) => {
    await using project = arrange()
    const { findings } = await report(project, target)
    const message = expect.stringMatching(
      /^\w+ is not installed, but deploy needs it: run npm install --save-dev \S+$/,
    )
    expect(findings).toContainEqual({ level: 'warning', message })
  })

  test.for(['node', 'lambda'])('%s names Node’s version once', async (target) => {
    await using project = arrange()
    const { findings } = await report(project, target)
    expect(findings.filter(({ message }) => message.includes(process.version))).toHaveLength(1)
  })

  test.for([
    [['--target', 'mainframe'], 2],
    [['--colour'], 2],
    [['nowhere.ts'], 1],
  ] as const)('%j → one line, exit code %i', async ([args, exitCode]) => {
    await using project = arrange()
    const { code, stderr } = await doctor(project, ...args)
    expect(code).toBe(exitCode)
    expect(stderr).toMatch(/^mayfly: [^\n]+\n$/)
  })
})
