/** `--stage` on every command that works on a stage: one rule for its name, its own files first, and its own place. */
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseEnv } from 'node:util'
import { afterAll, describe, expect, test } from 'vitest'
import { MayflyProcess, type Output, Project, stopAll } from './_dev-process.ts'
import { runWithStandIns, type StandIns } from './_stand-in.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

afterAll(stopAll)

/** Variables of whoever runs the tests do not choose. */
const NO_STAGE = { MAYFLY_STAGE: '' }

/** It says what it was loaded with. */
const TELLING = `throw new Error('loaded with ' + process.env.WHERE + ' at ' + (process.env.MAYFLY_STAGE || 'none'))
export default { fetch() {} }`

const FILES = ['.env', '.env.local', '.dev.vars', '.env.production', '.env.staging']

function arrange(files: readonly string[] = FILES, server = TELLING): Project {
  const project = new Project()
  project.write('package.json', '{ "name": "shop", "type": "module" }')
  project.write('server.ts', server)
  project.write('migrate.mjs', server.replace('throw new Error', 'console.error'))
  for (const file of files) project.write(file, `WHERE=${file}\n`)
  return project
}

const run = (project: Project, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Output> =>
  new MayflyProcess([...args], project.folder, undefined, { ...NO_STAGE, ...env }).exited

const loadedWith = ({ stdout, stderr }: Output): string | undefined =>
  /loaded with (\S+ at \w+)/.exec(stdout + stderr)?.[1]

const OF_DEPLOYMENT = [
  ['doctor', '--target', 'node'],
  ['tasks', 'list'],
  ['tasks', 'show', 'a'.repeat(32)],
  ['keys', 'list'],
  ['keys', 'create', 'ci'],
  ['keys', 'revoke', 'ci'],
  ['migrate'],
]

const STAGED = [
  ...OF_DEPLOYMENT,
  ['dev', '--target', 'node', '--port', '0'],
  ['preview', '--target', 'node', '--port', '0'],
  ['logs', '--target', 'lambda'],
  ['deploy', '--target', 'lambda', '--dry-run'],
  ['rollback', '--target', 'netlify'],
  ['destroy', '--target', 'lambda'],
  ['secrets', 'list', '--target', 'lambda'],
]

describe('the name', { timeout: 120_000 }, () => {
  test.concurrent.each(STAGED.map((args) => [args.join(' '), args] as const))(
    '%s: an invalid one → exit code 2 and one line with what is allowed, in the option and in the variable',
    async (_line, args) => {
      await using project = arrange()
      const byOption = await run(project, [...args, '--stage', 'Staging'])
      expect(byOption.stderr).toMatch(
        /^mayfly: --stage must be a name of 1 to 20 lower case letters[^\n]+\n$/,
      )
      expect([byOption.code, byOption.stdout]).toEqual([2, ''])
      if (args[0] === 'destroy') return
      const byVariable = await run(project, args, { MAYFLY_STAGE: 'production' })
      expect(byVariable).toEqual({
        code: 2,
        stdout: '',
        stderr:
          'mayfly: MAYFLY_STAGE names production, which is not a stage: without MAYFLY_STAGE, production is meant\n',
      })
    },
  )
})

describe('the variables', { timeout: 120_000 }, () => {
  test.concurrent.each(OF_DEPLOYMENT.map((args) => [args.join(' '), args] as const))(
    '%s: .env.<stage> at a stage, .env.production in production, else .env',
    async (_line, args) => {
      await using project = arrange()
      expect(loadedWith(await run(project, [...args, '--stage', 'staging']))).toBe('.env.staging at staging')
      expect(loadedWith(await run(project, args, { MAYFLY_STAGE: 'staging' }))).toBe(
        '.env.staging at staging',
      )
      expect(loadedWith(await run(project, [...args, '--stage', 'qa']))).toBe('.env at qa')
      expect(loadedWith(await run(project, args))).toBe('.env.production at none')
      await using other = arrange(['.env', '.env.staging'])
      expect(loadedWith(await run(other, args))).toBe('.env at none')
    },
  )

  const SERVING = `export default { fetch: () => {} }
console.error(\`loaded with \${process.env.WHERE} at \${process.env.MAYFLY_STAGE || 'none'}\`)
`

  test.concurrent.each(['dev', 'preview'])(
    '%s: those of the stage; without one, those of this machine and never production’s',
    async (command) => {
      const cases = [
        [['--stage', 'staging'], '.env.staging at staging'],
        [[], '.dev.vars at none'],
      ] as const
      for (const [option, expected] of cases) {
        await using project = arrange(FILES, SERVING)
        const args = [command, '--target', 'node', '--port', '0', ...option]
        await using mayfly = new MayflyProcess(args, project.folder, undefined, NO_STAGE)
        const said = await mayfly.says(/loaded with [^\n]+\n/)
        expect(/loaded with ([^\n]+)/.exec(said)?.[1]).toBe(expected)
      }
    },
  )

  test.concurrent.each(['dev', 'preview'])(
    'cloudflare, %s: wrangler runs the environment of the stage with its variables and MAYFLY_STAGE',
    async (command) => {
      await using project = arrange(
        ['.env', '.dev.vars', '.env.staging'],
        `export default {
  fetch: (request: Request, { WHERE, MAYFLY_STAGE, PLACE }: { [name: string]: string }) =>
    Response.json({ jsonrpc: '2.0', id: 1, result: { told: [WHERE, MAYFLY_STAGE, PLACE] } }),
}
`,
      )
      mkdirSync(join(project.folder, 'node_modules'))
      symlinkSync(join(ROOT, 'node_modules/wrangler'), join(project.folder, 'node_modules/wrangler'))
      project.write(
        'wrangler.toml',
        `name = "shop"
main = "server.ts"
compatibility_date = "2026-01-01"
[vars]
PLACE = "production"
[env.staging.vars]
PLACE = "staging"
`,
      )
      const toldBy = async (...option: string[]): Promise<unknown> => {
        const args = [command, '--target', 'cloudflare', '--port', '0', ...option]
        await using mayfly = new MayflyProcess(args, project.folder, undefined, NO_STAGE)
        await mayfly.ready()
        const [, url = ''] = /^ready (\S+)/.exec(mayfly.stdout) ?? []
        const response = await fetch(url, { method: 'POST', body: '{}' })
        return ((await response.json()) as { result: { told: unknown } }).result.told
      }
      expect(await toldBy('--stage', 'staging')).toEqual(['.env.staging', 'staging', 'staging'])
      expect(await toldBy()).toEqual(['.dev.vars', null, 'production'])
      project.write('.env.staging.local', 'WHERE=.env.staging.local\n')
      const [where] = (await toldBy('--stage', 'staging')) as readonly string[]
      expect(where, 'what is only on this machine comes first').toBe('.env.staging.local')
    },
  )

  test('a deployment takes the value of .env.production, and says that .env has another', async () => {
    await using project = arrange(['.env', '.env.local', '.env.production'], 'export default { fetch() {} }')
    const tool = { tools: { 'node_modules/vercel/cli.cjs': 'vercel' }, token: 'VERCEL_TOKEN', env: NO_STAGE }
    const args = ['secrets', 'set', 'WHERE', '--target', 'vercel']
    mkdirSync(join(project.folder, '.vercel'))
    project.write(
      '.vercel/project.json',
      '{ "orgId": "team_x", "projectId": "prj_x", "projectName": "shop" }',
    )
    const { code, stderr, calls } = await runWithStandIns(project, args, tool, [['env ls', '{ "envs": [] }']])
    expect(code, stderr).toBe(0)
    expect(calls.find(({ args: words }) => words.includes('add'))?.input).toBe('.env.production')
    expect(stderr).toContain('mayfly: WHERE is taken from .env.production: .env has another value\n')
  })
})

describe('the advice names the stage', { timeout: 120_000 }, () => {
  const withKeys = (project: Project): void => {
    project.linkPackage()
    project.write(
      'server.ts',
      `import { MCPServer } from 'mayfly-mcp'
import { apiKeys, environmentKeyStore } from 'mayfly-mcp/keys'
export default new MCPServer({ id: 'test', name: 'a', version: '1', log: false, auth: apiKeys({ store: environmentKeyStore }) })`,
    )
  }

  test('keys: written to and read from .env.<stage>, and .env stays as it is', async () => {
    await using project = arrange(['.env', '.env.staging'])
    withKeys(project)
    const production = await run(project, ['keys', 'create', 'ci'])
    expect(production.stderr).toContain('deploy it with mayfly deploy --secret MAYFLY_API_KEYS\n')
    const before = readFileSync(join(project.folder, '.env'), 'utf8')

    const made = await run(project, ['keys', 'create', 'ci', '--stage', 'staging'])
    expect(made.code, made.stderr).toBe(0)
    expect(made.stderr).toMatch(
      /wrote \S*\.env\.staging: deploy it with mayfly deploy --secret MAYFLY_API_KEYS --stage staging\n/,
    )
    const { WHERE, MAYFLY_API_KEYS } = parseEnv(readFileSync(join(project.folder, '.env.staging'), 'utf8'))
    expect([WHERE, JSON.parse(MAYFLY_API_KEYS!)]).toEqual([
      '.env.staging',
      [expect.objectContaining({ server: 'test', stage: 'staging' })],
    ])
    expect((await run(project, ['keys', 'list', '--stage', 'staging'])).stdout).toContain('test (staging)')
    const unknown = await run(project, ['keys', 'revoke', 'bob', '--stage', 'staging'])
    expect(unknown.stderr).toContain('mayfly keys list --stage staging shows them')
    expect((await run(project, ['keys', 'revoke', 'ci', '--stage', 'staging'])).stdout).toBe('revoked\n')
    expect(readFileSync(join(project.folder, '.env'), 'utf8')).toBe(before)
    expect((await run(project, ['keys', 'list'])).stdout).toMatch(/ ci /)
  })

  test('keys --kv: the namespace of the environment', async () => {
    await using project = arrange([])
    project.write('wrangler.toml', 'name = "shop"\n[env.staging]\n')
    const args = ['keys', 'list', '--kv', 'KEYS', '--server', 'test', '--stage', 'staging']
    const tool = { ...TOOLS.cloudflare!, env: NO_STAGE }
    const { code, stderr, calls } = await runWithStandIns(project, args, tool, [['kv key list', '[]']])
    expect(code, stderr).toBe(0)
    expect(calls.map((call) => call.args.join(' '))).toEqual([
      'kv key list --prefix mayfly: --binding KEYS --remote --env staging',
    ])
  })

  test('doctor: what is missing at the stage, where to write it, and the next command', async () => {
    await using project = arrange([])
    withKeys(project)
    const { stdout } = await run(project, ['doctor', '--target', 'lambda', '--stage', 'staging'])
    expect(stdout).toContain(
      'into .env.staging, and send them with mayfly deploy --secret MAYFLY_SECRET --stage staging',
    )
    expect(stdout).toContain('staging is the stack shop-staging')
    project.write('.env.staging', 'MAYFLY_API_KEYS=[]\n')
    const next = await run(project, ['doctor', 'server.ts', '--target', 'deno', '--stage', 'staging'])
    expect(next.stdout).toContain('--target deno --stage staging --secret MAYFLY_API_KEYS\n')
  })

  test('tasks --url: the secret of the stage', async () => {
    await using project = arrange([])
    const { stderr } = await run(project, [
      'tasks',
      'list',
      '--url',
      'https://shop.example/tasks',
      '--stage',
      'qa',
    ])
    expect(stderr).toContain('in the environment or in .env.qa')
  })
})

const SITE = '3f0e9e8a-1c1b-4a5e-9a56-0c1b7d9f2a10'
const TOOLS: { readonly [target: string]: StandIns } = {
  cloudflare: { tools: { 'node_modules/wrangler/cli.cjs': 'wrangler' }, token: 'CLOUDFLARE_API_TOKEN' },
  vercel: { tools: { 'node_modules/vercel/cli.cjs': 'vercel' }, token: 'VERCEL_TOKEN' },
  netlify: { tools: { 'node_modules/netlify-cli/cli.cjs': 'netlify' }, token: 'NETLIFY_AUTH_TOKEN' },
  deno: { tools: { 'node_modules/deno/cli.cjs': 'deno' }, token: 'DENO_DEPLOY_TOKEN' },
  supabase: { tools: { 'node_modules/supabase/cli.cjs': 'supabase' }, token: 'SUPABASE_ACCESS_TOKEN' },
  lambda: { tools: { 'bin/aws': 'aws', 'bin/sam': 'sam' }, token: 'AWS_ACCESS_KEY_ID' },
}

describe('logs --stage shows those of the stage’s place', { timeout: 120_000 }, () => {
  const logsOf = async (project: Project, target: string, ...more: string[]) => {
    const tool = TOOLS[target]!
    const env = {
      ...NO_STAGE,
      NETLIFY_SITE_ID: '',
      VERCEL_PROJECT_ID: 'prj_x',
      VERCEL_ORG_ID: '',
      CLOUDFLARE_ENV: 'x',
    }
    const ran = await runWithStandIns(
      project,
      ['logs', '--target', target, '--stage', 'staging', ...more],
      { ...tool, env },
      [
        ['getSite', `{ "id": "${SITE}", "name": "shop-staging", "account_slug": "acme" }`],
        ['LogGroupName', 'the-log-group'],
      ],
    )
    return { ...ran, line: ran.calls.at(-1)?.args.join(' '), env: ran.calls.at(-1)?.env ?? {} }
  }

  test.concurrent.each([
    ['vercel', /^logs --follow --project shop-staging$/],
    ['netlify', /^logs --follow --source functions edge-functions$/],
    ['deno', /^deploy logs .*--app shop-staging/],
    ['supabase', /^logs --remote=abcdefghijklmnopqrst --service functions/],
    ['lambda', /^logs tail the-log-group --follow$/],
  ] as const)('%s', async (target, expected) => {
    await using project = arrange([])
    const stages = { staging: { supabase: 'abcdefghijklmnopqrst' } }
    project.write('package.json', JSON.stringify({ name: 'shop', mayfly: { stages } }))
    const { code, stderr, line, env, calls } = await logsOf(project, target)
    expect(code, stderr).toBe(0)
    expect(line).toMatch(expected)
    if (target === 'vercel') expect(env.VERCEL_PROJECT_ID).toBe('')
    if (target === 'netlify') expect(env.NETLIFY_SITE_ID).toBe(SITE)
    if (target === 'lambda') expect(calls.at(-2)?.args.join(' ')).toContain('--stack-name shop-staging')
  })

  test('cloudflare: the environment of wrangler.toml, even with CLOUDFLARE_ENV', async () => {
    await using project = arrange([])
    project.write('wrangler.toml', 'name = "shop"\n[env.staging]\n')
    const { line, env } = await logsOf(project, 'cloudflare')
    expect(line).toMatch(/^tail --config \S+wrangler\.toml --env staging$/)
    expect(env.CLOUDFLARE_ENV).toBe('')
  })

  test.concurrent.each([
    ['cloudflare', 'wrangler.toml has no environment staging'],
    ['supabase', 'no Supabase project is named for staging'],
  ])('%s: a stage that has no place is refused with what to write', async (target, words) => {
    await using project = arrange([])
    project.write('wrangler.toml', 'name = "shop"\n')
    const { code, stderr, calls } = await logsOf(project, target)
    expect([code, stderr]).toEqual([1, expect.stringContaining(words)])
    expect(calls).toEqual([])
  })

  test('netlify: a stage that is production’s site is refused', async () => {
    await using project = arrange([])
    const stages = { staging: { netlify: 'other.example' } }
    project.write('package.json', JSON.stringify({ name: 'shop-staging', mayfly: { stages } }))
    const { code, stderr, calls } = await logsOf(project, 'netlify')
    expect([code, stderr]).toEqual([1, expect.stringContaining("staging would be production's")])
    expect(calls.filter(({ args }) => args[0] === 'logs')).toEqual([])
  })
})
