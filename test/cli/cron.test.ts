/** `"cron"` of package.json: who calls the path on this machine, and what the builds say of the schedule. */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { unzipSync } from 'fflate'
import { describe, expect, test } from 'vitest'
import { bindingFindings } from '../../deploy/doctor/findings.ts'
import { targets } from '../../deploy/targets/all.ts'
import type { DeploymentInfo } from '../../src/index.ts'
import { testPort } from '../_port.ts'
import { MayflyProcess, Project } from './_dev-process.ts'

const SECRET = 'a-secret-of-32-characters-or-more-0123'

/** It counts what the schedule asks, and tells how often that was by its own path. */
const SERVER = `let asked = 0
const paths = new Set()
export default {
  fetch(request) {
    const { pathname } = new URL(request.url)
    if (pathname === '/asked') return Response.json({ asked, paths: [...paths] })
    if (!['/tasks', '/events'].includes(pathname)) return Response.json({ jsonrpc: '2.0', id: 1, result: {} })
    if (request.headers.get('authorization') !== \`Bearer \${process.env.WANTED}\`) return new Response('no', { status: 401 })
    asked++
    paths.add(pathname)
    if (process.env.TOLD) console.log(pathname)
    return Response.json({ run: 0 })
  },
}`

const devArgs = (port: number): string[] => ['dev', '--target', 'node', '--port', String(port)]

/** Which paths the schedule has asked the server for. */
async function pathsAsked(port: number): Promise<string[]> {
  const response = await fetch(`http://127.0.0.1:${port}/asked`)
  return ((await response.json()) as { paths: string[] }).paths.sort()
}

function arrange(cron: unknown): Project {
  const project = new Project()
  project.write('server.ts', SERVER)
  project.write('package.json', JSON.stringify({ name: 'a', type: 'module', mayfly: { cron } }))
  return project
}

describe('mayfly dev', () => {
  test.each<[string, unknown, string[]]>([
    ['the path', '/tasks', ['/tasks']],
    ['each of several paths', ['/tasks', { path: '/events', schedule: '0 3 * * *' }], ['/events', '/tasks']],
  ])('calls %s with the secret, again and again', async (_what, cron, paths) => {
    await using project = arrange(cron)
    project.write('.env', `CRON_SECRET=${SECRET}\nWANTED=${SECRET}\n`)
    const port = await testPort()
    await using mayfly = new MayflyProcess(devArgs(port), project.folder)
    await mayfly.ready()
    await expect.poll(() => pathsAsked(port)).toEqual(paths)
    const asked = async (): Promise<number> => {
      const response = await fetch(`http://127.0.0.1:${port}/asked`)
      return ((await response.json()) as { asked: number }).asked
    }
    await expect.poll(asked).toBeGreaterThan(paths.length)
  })

  test('calls what package.json says after a change, without a restart', async () => {
    await using project = arrange('/tasks')
    project.write('.env', `CRON_SECRET=${SECRET}\nWANTED=${SECRET}\n`)
    const port = await testPort()
    await using mayfly = new MayflyProcess(devArgs(port), project.folder)
    await mayfly.ready()
    const paths = () => pathsAsked(port)
    await expect.poll(paths).toEqual(['/tasks'])
    project.write(
      'package.json',
      JSON.stringify({ name: 'a', type: 'module', mayfly: { cron: ['/events'] } }),
    )
    // A server that was started again has counted nothing of before.
    await expect.poll(paths).toContain('/events')
    project.write('server.ts', `${SERVER}\n`)
    await expect.poll(paths).toEqual(['/events'])
  })

  test('a path where nothing is mounted → it says so', async () => {
    await using project = arrange('/events/')
    project.write(
      'server.ts',
      `export default {
      fetch: (request) => new URL(request.url).pathname === '/mcp' ? Response.json({ jsonrpc: '2.0', id: 1, result: {} }) : new Response('Method not allowed', { status: 405 })
    }`,
    )
    project.write('.env', `CRON_SECRET=${SECRET}\n`)
    await using mayfly = new MayflyProcess(devArgs(await testPort()), project.folder)
    await mayfly.ready()
    await mayfly.says('/events/: status 405 Method not allowed: mount its endpoint at this path')
  })

  test.for([
    ['no secret', '', 'nothing calls /tasks: set CRON_SECRET in .env'],
    ['another secret', 'CRON_SECRET=another\n', '/tasks: status 401 no'],
  ] as const)('%s → it says so, once', async ([, env, line]) => {
    await using project = arrange('/tasks')
    if (env !== '') project.write('.env', env)
    await using mayfly = new MayflyProcess(devArgs(await testPort()), project.folder)
    await mayfly.ready()
    await mayfly.says(line)
  })
})

test.for([
  [''],
  ['tasks'],
  [7],
  [true],
  [{}],
  [{ path: '/tasks', schedule: 'daily' }],
  [{ path: '/tasks', schedul: '0 3 * * *' }],
  ['/tasks\n'],
  [[]],
  [['/tasks', 'events']],
  [['/tasks', null]],
  [['/tasks', ['/events']]],
])('%j → one line that says what to write', async ([cron]) => {
  await using project = arrange(cron)
  const { code, stderr } = await new MayflyProcess(['build', '--target', 'vercel'], project.folder).exited
  expect(code).toBe(1)
  expect(stderr).toMatch(
    /^mayfly: "mayfly": \{ "cron": … \} in package\.json holds [^\n]+: make it a path [^\n]+\n$/m,
  )
})

test.for([
  [
    ['/tasks'],
    [/^tasks .* schedule \(\* \* \* \* \*\) calls \/tasks$/, /^events .* calls \/tasks, which must be/],
  ],
  [
    ['/tasks', '/events'],
    [
      /^tasks .* schedules call \/tasks \(\* \* \* \* \*\) and \/events \(\* \* \* \* \*\), one of which .* createTaskEndpoint$/,
      /^events .* schedules call \/tasks .* one of which must be that of createEventEndpoint$/,
    ],
  ],
] as const)('doctor names %j', ([paths, patterns]) => {
  const crons = paths.map((path) => ({ path, schedule: '* * * * *' }))
  const info = { hasTasks: true, hasEvents: true, hasEventSender: true } as DeploymentInfo
  const found = bindingFindings(info, targets.get('vercel')!, crons)
  expect(found.map(({ level }) => level)).toEqual(['ok', 'ok'])
  for (const [at, pattern] of patterns.entries()) expect(found[at]!.message).toMatch(pattern)
})

test.for([
  [['/tasks', { path: '/tasks', schedule: '0 3 * * *' }], 'lists /tasks twice: remove one of them'],
  [Array.from({ length: 11 }, (_none, at) => `/${at}`), 'lists 11 paths: at most 10 are allowed'],
] as const)('%j → one line', async ([cron, message]) => {
  await using project = arrange(cron)
  const { code, stderr } = await new MayflyProcess(['build', '--target', 'vercel'], project.folder).exited
  expect(code).toBe(1)
  expect(stderr).toMatch(`mayfly: "mayfly": { "cron": … } in package.json ${message}\n`)
})

describe('mayfly build', () => {
  async function built(target: string, cron: unknown): Promise<(path: string) => string> {
    await using project = arrange(cron)
    const { code, stderr } = await new MayflyProcess(['build', '--target', target], project.folder).exited
    expect(stderr).not.toContain('mayfly:')
    expect(code).toBe(0)
    const folder = join(project.folder, 'dist', target)
    const read = (path: string): string => readFileSync(join(folder, path), 'utf8')
    const paths = {
      vercel: ['.vercel/output/config.json'],
      'vercel-edge': ['.vercel/output/config.json'],
      netlify: ['netlify/functions/cron.mjs', 'netlify.toml'],
      'netlify-edge': ['netlify/functions/cron.mjs', 'netlify.toml'],
      lambda: ['template.yaml'],
      deno: ['server.js'],
    }[target]!
    const more = Array.isArray(cron) && target.startsWith('netlify') ? ['netlify/functions/cron-2.mjs'] : []
    const texts = new Map([...paths, ...more].map((path) => [path, read(path)]))
    return (path) => texts.get(path)!
  }

  test.for(['vercel', 'vercel-edge'])('%s has it in its configuration', async (target) => {
    const read = await built(target, { path: '/tasks', schedule: '0 3 * * *' })
    expect(JSON.parse(read('.vercel/output/config.json'))).toMatchObject({
      crons: [{ path: '/tasks', schedule: '0 3 * * *' }],
    })
  })

  test.for(['netlify', 'netlify-edge'])(
    '%s has a scheduled function, which calls the site',
    async (target) => {
      const read = await built(target, '/tasks')
      expect(read('netlify.toml')).toContain('directory = "netlify/functions"')
      expect(read('netlify.toml')).toMatch(/^command = "echo built by mayfly"$/m)
      await using project = new Project()
      project.write('cron.mjs', read('netlify/functions/cron.mjs'))
      const cron = (await import(pathToFileURL(join(project.folder, 'cron.mjs')).href)) as {
        default(): Promise<void>
        config: object
      }
      expect(cron.config).toEqual({ schedule: '* * * * *' })
    },
  )

  test('lambda has a function that is called by it', async () => {
    const read = await built('lambda', '/tasks')
    expect(read('template.yaml')).toContain('Handler: index.cronHandler')
    expect(read('template.yaml')).toContain('ScheduleExpression: rate(1 minute)')
  })

  test('lambda, with tasks, also has the handler that reads their queue', async () => {
    await using project = arrange('/tasks')
    const mayfly = { cron: '/tasks', tasks: 'dynamodb' }
    project.write('package.json', JSON.stringify({ name: 'a', type: 'module', mayfly }))
    project.write(
      'server.ts',
      `${SERVER}\nexport const queue = async (event) => ({ seen: event.Records.length })`,
    )
    const { code } = await new MayflyProcess(['build', '--target', 'lambda'], project.folder).exited
    expect(code).toBe(0)
    const folder = join(project.folder, 'dist/lambda')
    expect(readFileSync(join(folder, 'template.yaml'), 'utf8')).toContain('Handler: index.queueHandler')
    const files = unzipSync(readFileSync(join(folder, 'function.zip')))
    writeFileSync(join(folder, 'index.mjs'), files['index.mjs']!)
    const script = `globalThis.awslambda = { streamifyResponse: (handler) => handler }
      const built = await import('./index.mjs')
      console.log(JSON.stringify(await built.queueHandler({ Records: [1, 2] })), typeof built.cronHandler)`
    const output = execFileSync(process.execPath, ['--input-type=module', '-e', script], { cwd: folder })
    expect(String(output)).toBe('{"seen":2} function\n')
  })

  describe('with several', () => {
    const CRONS = ['/tasks', { path: '/events', schedule: '0 3 * * *' }]

    test.for(['vercel', 'vercel-edge'])('%s has each', async (target) => {
      const read = await built(target, CRONS)
      expect(JSON.parse(read('.vercel/output/config.json')).crons).toEqual([
        { path: '/tasks', schedule: '* * * * *' },
        { path: '/events', schedule: '0 3 * * *' },
      ])
    })

    test.for(['netlify', 'netlify-edge'])('%s has a function for each', async (target) => {
      const read = await built(target, CRONS)
      await using project = new Project()
      for (const [name, path, schedule] of [
        ['cron.mjs', '/tasks', '* * * * *'],
        ['cron-2.mjs', '/events', '0 3 * * *'],
      ] as const) {
        project.write(name, read(`netlify/functions/${name}`))
        const script = `process.env.URL = 'https://shop.example'
          globalThis.fetch = async ({ url, headers }) => (console.log(url, headers.get('authorization')), new Response())
          const { default: call, config } = await import('./${name}')
          await call()
          console.log(config.schedule)`
        const output = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
          cwd: project.folder,
          env: { ...process.env, CRON_SECRET: SECRET },
        })
        expect(String(output)).toBe(`https://shop.example${path} Bearer ${SECRET}\n${schedule}\n`)
      }
    })

    test('lambda: the function calls the path of its schedule, and no other', async () => {
      await using project = arrange(CRONS)
      const { code } = await new MayflyProcess(['build', '--target', 'lambda'], project.folder).exited
      expect(code).toBe(0)
      const folder = join(project.folder, 'dist/lambda')
      expect(readFileSync(join(folder, 'template.yaml'), 'utf8')).toContain(`Input: '{"path":"/events"}'`)
      const files = unzipSync(readFileSync(join(folder, 'function.zip')))
      for (const [name, bytes] of Object.entries(files)) writeFileSync(join(folder, name), bytes)
      const script = `globalThis.awslambda = { streamifyResponse: (handler) => handler }
        process.env.WANTED = process.env.CRON_SECRET
        const { cronHandler } = await import('./index.mjs')
        const context = { getRemainingTimeInMillis: () => 10_000 }
        for (const event of [{ 'detail-type': 'Scheduled Event' }, { path: '/events' }, { path: '//evil.example/' }, null])
          await cronHandler(event, context)`
      project.write('dist/lambda/run.mjs', script)
      const output = execFileSync(process.execPath, ['run.mjs'], {
        cwd: folder,
        env: { ...process.env, CRON_SECRET: SECRET, TOLD: '1' },
      })
      expect(String(output)).toBe('/tasks\n/events\n/tasks\n/tasks\n')
    })

    test('Deno Deploy has a name for each', async () => {
      const read = await built('deno', CRONS)
      expect(read('server.js')).toMatch(
        /Deno\.cron\("mayfly",\s*"\* \* \* \* \*"[\s\S]*Deno\.cron\("mayfly-2",\s*"0 3 \* \* \*"/,
      )
      expect(read('server.js')).toContain('"/events"')
    })
  })

  test('Deno Deploy is told of it as the server loads', async () => {
    const read = await built('deno', '/tasks')
    expect(read('server.js')).toMatch(/Deno\.cron\("mayfly",\s*"\* \* \* \* \*"/)
  })
})
