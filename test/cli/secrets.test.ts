/** `mayfly secrets`: names and ages, never values. Stand-ins take the place of the platforms' tools; test/platform-clis runs real ones. */
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { targets } from '../../deploy/targets/all.ts'
import { MayflyProcess, Project, stopAll } from './_dev-process.ts'
import { type Answer, type Call, type Ran, runWithStandIns, type StandIns } from './_stand-in.ts'

afterAll(stopAll)

const VALUE = 'sk-$HOME-`id`-"q7x1f7c2a9"-#x'
const STORED = 'stored-q7x1f7c2a9'
const REF = 'abcdefghijklmnopqrst'
const TIME = '2026-11-01T10:00:00.000Z'

interface Platform extends StandIns {
  readonly files?: { readonly [path: string]: string }
  /** What the stand-in prints when the arguments match. */
  readonly answers: readonly Answer[]
  readonly list?: { readonly age?: string }
  /** The values that a call stores. */
  stored(call: Call): { readonly [name: string]: string | undefined }
  /** Whether a call removes API_TOKEN. */
  removes(call: Call): boolean
}

const npmTool = (name: string, program = name): { readonly [path: string]: string } => ({
  [`node_modules/${name}/cli.cjs`]: program,
})

const vercel: Platform = {
  tools: npmTool('vercel'),
  token: 'VERCEL_TOKEN',
  files: { '.vercel/project.json': '{ "orgId": "team_x", "projectId": "prj_x", "projectName": "shop" }' },
  answers: [
    ['env ls', JSON.stringify({ envs: [{ key: 'API_TOKEN', value: STORED, updatedAt: Date.parse(TIME) }] })],
  ],
  list: { age: '2026-11-01 10:00 UTC' },
  stored: ({ args, input }) => (args[1] === 'add' ? { [args[2]!]: input } : {}),
  removes: ({ args }) =>
    args.slice(0, 4).join(' ') === 'env rm API_TOKEN production' && args.includes('--yes'),
}

const netlify: Platform = {
  tools: npmTool('netlify-cli', 'netlify'),
  token: 'NETLIFY_AUTH_TOKEN',
  env: { NETLIFY_SITE_ID: 'shop.example' },
  answers: [
    ['api getSite', JSON.stringify({ id: 'site', account_slug: 'me' })],
    ['api getEnvVars', JSON.stringify([{ key: 'API_TOKEN', updated_at: TIME, values: [{ value: STORED }] }])],
  ],
  list: { age: '2026-11-01 10:00 UTC' },
  stored: ({ args }) => {
    const { key, body } = JSON.parse(args[3] ?? '{}') as {
      key?: string
      body?: { values: { value: string }[] }
    }
    return args[1] === 'updateEnvVar' && key !== undefined ? { [key]: body?.values[0]?.value } : {}
  },
  removes: ({ args }) => args[1] === 'deleteEnvVar' && args[3]?.includes('"key":"API_TOKEN"') === true,
}

const PLATFORMS: { readonly [target: string]: Platform } = {
  cloudflare: {
    tools: npmTool('wrangler'),
    token: 'CLOUDFLARE_API_TOKEN',
    answers: [['secret list', JSON.stringify([{ name: 'API_TOKEN', type: 'secret_text' }])]],
    list: {},
    stored: ({ args, input }) =>
      args[1] === 'bulk' ? (JSON.parse(input) as { [name: string]: string }) : {},
    removes: ({ args, input }) => args[1] === 'bulk' && input === '{"API_TOKEN":null}',
  },
  vercel,
  'vercel-edge': vercel,
  netlify,
  'netlify-edge': netlify,
  supabase: {
    tools: npmTool('supabase'),
    token: 'SUPABASE_ACCESS_TOKEN',
    env: { SUPABASE_PROJECT_ID: REF },
    answers: [
      [
        'secrets list',
        JSON.stringify([
          { name: 'SHOP__API_TOKEN', value: STORED, updated_at: TIME },
          { name: 'OTHER__API_TOKEN', value: STORED, updated_at: TIME },
          { name: 'SHOP_OTHER__TOKEN', value: STORED, updated_at: TIME },
          { name: 'SUPABASE_URL', value: 'digest' },
        ]),
      ],
    ],
    list: { age: '2026-11-01 10:00 UTC' },
    stored: ({ input }) => {
      const { SHOP__API_TOKEN } = parseEnv(input)
      return SHOP__API_TOKEN === undefined ? {} : { API_TOKEN: SHOP__API_TOKEN }
    },
    removes: ({ args }) =>
      args.slice(0, 3).join(' ') === 'secrets unset SHOP__API_TOKEN' && args.includes('--yes'),
  },
  deno: {
    tools: npmTool('deno'),
    token: 'DENO_DEPLOY_TOKEN',
    answers: [],
    stored: ({ input }) => parseEnv(input) as { [name: string]: string },
    removes: ({ args }) => args.slice(0, 4).join(' ') === 'deploy env delete API_TOKEN',
  },
  lambda: {
    tools: { 'bin/aws': 'aws' },
    token: 'AWS_ACCESS_KEY_ID',
    answers: [
      [
        'get-secret-value',
        JSON.stringify({
          SecretString: JSON.stringify({ API_TOKEN: STORED, OTHER: 'kept-q7x1f7c2a9' }),
          CreatedDate: TIME,
        }),
      ],
    ],
    list: { age: '2026-11-01 10:00 UTC' },
    stored: ({ input }) => valuesOf(input),
    removes: ({ args, input }) =>
      args[1] === 'put-secret-value' &&
      JSON.stringify(valuesOf(input)) === JSON.stringify({ OTHER: 'kept-q7x1f7c2a9' }),
  },
}

function valuesOf(input: string): { readonly [name: string]: string } {
  const { SecretString = '{}' } = JSON.parse(input || '{}') as { SecretString?: string }
  return JSON.parse(SecretString) as { [name: string]: string }
}

async function run(
  project: Project,
  target: string,
  args: readonly string[],
  answers?: Platform['answers'],
  env: { readonly [name: string]: string } = {},
): Promise<Ran> {
  const platform = PLATFORMS[target]!
  project.write('server.ts', `export default { fetch: () => new Response('hello') }`)
  if (!existsSync(join(project.folder, 'package.json'))) project.write('package.json', '{ "name": "shop" }')
  project.write('.env', `API_TOKEN='${VALUE}'\n`)
  for (const [path, text] of Object.entries(platform.files ?? {})) {
    mkdirSync(join(project.folder, path, '..'), { recursive: true })
    project.write(path, text)
  }
  const words = ['secrets', ...args.slice(0, 1), '--target', target, ...args.slice(1)]
  const standIns = { ...platform, env: { ...platform.env, ...env } }
  return runWithStandIns(project, words, standIns, answers ?? platform.answers)
}

const MARK = 'q7x1f7c2a9'

it('each target with a platform has secrets, or says where its variables are', () => {
  const without = [...targets].filter(([, { secretStore }]) => secretStore === undefined)
  expect(without.every(([, { isOwnMachine }]) => isOwnMachine)).toBe(true)
  expect(Object.keys(PLATFORMS).toSorted()).toEqual(
    [...targets].flatMap(([name, { secretStore }]) => (secretStore ? [name] : [])).toSorted(),
  )
})

describe.each(Object.entries(PLATFORMS))('%s', (target, platform) => {
  it('list prints names and ages, and no value', async () => {
    await using project = new Project()

    const { code, stdout, stderr, calls } = await run(project, target, ['list'])

    expect(stdout + stderr).not.toContain(MARK)
    if (platform.list === undefined) {
      expect(code).toBe(1)
      expect(stderr).toMatch(/^mayfly: .*values.*\n/m)
      expect(calls.filter(({ args }) => args.includes('list'))).toEqual([])
      return
    }
    expect(code, stderr).toBe(0)
    expect(stdout).toMatch(
      platform.list.age === undefined
        ? /^API_TOKEN\s+age not told$/m
        : new RegExp(`^API_TOKEN\\s+written ${platform.list.age}$`, 'm'),
    )
    expect(stdout).not.toMatch(/SUPABASE_URL|OTHER_/)
  })

  it('set hands the value over by stdin or a file of its own, and keeps the others', async () => {
    await using project = new Project()

    const { code, stdout, stderr, calls } = await run(project, target, ['set', 'API_TOKEN'])

    expect(code, stderr).toBe(0)
    expect(stdout).toBe('stored API_TOKEN\n')
    expect(stdout + stderr).not.toContain(MARK)
    expect(stderr).toMatch(/the server sees it (?:at once|with the next deployment)/)
    const taken = calls.map((call) => platform.stored(call)).find((values) => 'API_TOKEN' in values)
    expect(taken).toMatchObject({ API_TOKEN: VALUE })
    if (target === 'lambda') expect(taken).toMatchObject({ OTHER: `kept-${MARK}` })
    // Netlify's stand-in runs in our process, which adds the value after the start.
    if (!target.startsWith('netlify'))
      for (const { args } of calls) expect(args.join(' ')).not.toContain(MARK)
    for (const { env } of calls) expect(JSON.stringify(env)).not.toContain(MARK)
  })

  it('remove removes what is there, and nothing if a name is not', async () => {
    await using project = new Project()

    const removed = await run(project, target, ['remove', 'API_TOKEN'])
    expect(removed.code, removed.stderr).toBe(0)
    expect(removed.stdout).toBe('removed API_TOKEN\n')
    expect(removed.stdout + removed.stderr).not.toContain(MARK)
    expect(removed.calls.filter((call) => platform.removes(call))).toHaveLength(1)

    if (platform.list === undefined) return
    const refused = await run(project, target, ['remove', 'API_TOKEN', 'API_TOKNE'])
    expect(refused.code).toBe(1)
    expect(refused.stderr).toMatch(/has no API_TOKNE: nothing is removed/)
    expect(refused.calls.filter((call) => platform.removes(call))).toHaveLength(1)
  })

  it('a stage has its own', async () => {
    await using project = new Project()
    const place = target === 'supabase' ? 'zyxwvutsrqponmlkjihg' : 'shop-other'
    const stages = { staging: { [target.replace('-edge', '')]: place } }
    project.write('package.json', JSON.stringify({ name: 'shop', mayfly: { stages } }))

    const { code, stderr, calls } = await run(project, target, ['set', 'API_TOKEN', '--stage', 'staging'])

    expect(code, stderr).toBe(0)
    expect(stderr).toContain('staging')
    // Its value is in .env alone.
    expect(stderr).toMatch(
      /^mayfly: API_TOKEN of staging is the value that production has: write another one into \.env\.staging/m,
    )
    expect(JSON.stringify(calls.map(({ args }) => args))).toContain(place)
    // Vercel's link of production would decide otherwise.
    for (const { env } of calls) expect([undefined, '']).toContain(env.VERCEL_PROJECT_ID)
  })

  it('a stage that nothing names is not touched, and not created for a list', async () => {
    await using project = new Project()
    project.write('package.json', '{ "name": "shop" }')

    for (const args of [['set', 'API_TOKEN'], ['remove', 'API_TOKEN'], ['list']]) {
      const { code, stderr, calls } = await run(project, target, [...args, '--stage', 'staging'])
      expect(code, stderr).toBe(1)
      expect(stderr).toMatch(/may be another project's|is named for staging|shows values beside/)
      expect(calls).toEqual([])
    }
  })

  if (target === 'vercel')
    it('a stage at the project of production, which the environment names by its id alone, is not touched', async () => {
      await using project = new Project()
      const stages = { staging: { vercel: 'till' } }
      project.write('package.json', JSON.stringify({ name: 'shop', mayfly: { stages } }))

      const { code, stderr, calls } = await run(
        project,
        target,
        ['set', 'API_TOKEN', '--stage', 'staging'],
        [['project inspect till', '    ID\t\tprj_y\n    Name\t\ttill']],
        { VERCEL_ORG_ID: 'team_x', VERCEL_PROJECT_ID: 'prj_y' },
      )

      expect(code, stderr).toBe(1)
      expect(stderr).toMatch(/staging would be production's prj_y: name another place/)
      expect(calls.map(({ args }) => args[0])).toEqual(['project'])
    })

  if (platform.list === undefined) return
  it('a list that cannot be read is not an empty one', async () => {
    await using project = new Project()
    const broken = platform.answers.map(
      ([pattern, answer]) => [pattern, pattern === 'api getSite' ? answer : 'oops'] as const,
    )

    const { code, stdout, stderr } = await run(project, target, ['remove', 'API_TOKEN'], broken)

    expect(code).toBe(1)
    expect(stdout).toBe('')
    expect(stderr).toMatch(/does not tell the secrets of/)
  })
})

it('list --json is one document', async () => {
  await using project = new Project()

  const { code, stdout } = await run(project, 'vercel', ['list', '--json'])

  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toEqual({
    target: 'vercel',
    stage: 'production',
    place: { kind: 'project', name: 'shop', account: 'team_x' },
    secrets: [{ name: 'API_TOKEN', changed: TIME }],
  })
})

it.each([
  [[], /no action is given: pass list, set or remove/],
  [['show'], /"show" is not an action: pass list, set or remove/],
  [['list', 'A'], /list takes no names: got A/],
  [['set'], /no name is given: pass one/],
  [['set', 'MAYFLY_STAGE'], /MAYFLY_STAGE is set by --stage/],
  [['set', 'A B'], /"A B" is not the name of a variable/],
  [['remove', '--all'], /Unknown option '--all'/],
  [
    ['set', 'API_TOKEN', '--stage', 'production'],
    /--stage names production, which is not a stage: without --stage, production is meant/,
  ],
])('%j is refused with exit code 2 before anything runs', async (args, message) => {
  await using project = new Project()
  project.write('server.ts', `export default { fetch: () => new Response('hello') }`)
  const mayfly = new MayflyProcess(['secrets', ...args], project.folder)

  const { code, stderr } = await mayfly.exited

  expect(code).toBe(2)
  expect(stderr).toMatch(message)
})

it('a variable without a value is named before the platform is asked', async () => {
  await using project = new Project()

  const { code, stderr, calls } = await run(project, 'cloudflare', ['set', 'MISSING'])

  expect(code).toBe(1)
  expect(stderr).toMatch(/MISSING has no value/)
  expect(calls).toEqual([])
})

it("a server on one's own machine has no secret store", async () => {
  await using project = new Project()
  project.write('server.ts', `export default { fetch: () => new Response('hello') }`)
  const mayfly = new MayflyProcess(['secrets', 'list', '--target', 'node'], project.folder)

  const { code, stderr } = await mayfly.exited

  expect(code).toBe(1)
  expect(stderr).toMatch(/runs on your own machine: Mayfly has not deployed anything there/)
})

it('lambda: what no deployment could use is not stored, and removing makes room', async () => {
  await using project = new Project()
  const stored = (values: object) =>
    [['get-secret-value', JSON.stringify({ SecretString: JSON.stringify(values) })]] as const
  const full = { OLD: 'x'.repeat(4096), API_TOKEN: STORED }

  const set = await run(project, 'lambda', ['set', 'API_TOKEN'], stored(full))
  expect(set.code).toBe(1)
  expect(set.stderr).toMatch(/^mayfly: these secrets are too large \(OLD, API_TOKEN\): [^\n]+$/m)
  expect(set.stdout + set.stderr).not.toContain(MARK)
  expect(set.calls.filter(({ args }) => args.includes('put-secret-value'))).toEqual([])

  const removed = await run(project, 'lambda', ['remove', 'API_TOKEN'], stored(full))
  expect(removed.code, removed.stderr).toBe(0)
})
