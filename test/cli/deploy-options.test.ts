/** What comes after `--`: each step of a deployment gets the options that its tool knows, so that all go to one account and place. */
import { chmodSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it, vi } from 'vitest'
import type { Target } from '../../deploy/contract/target.ts'
import { buildInto } from '../../deploy/targets/build-into.ts'
import { deno } from '../../deploy/targets/deno/target.ts'
import { lambda } from '../../deploy/targets/lambda/target.ts'
import { netlify } from '../../deploy/targets/netlify/target.ts'
import { supabase } from '../../deploy/targets/supabase/target.ts'
import { optionValue, pickOptions, withoutOptions } from '../../deploy/targets/tool-options.ts'
import { vercel } from '../../deploy/targets/vercel/target.ts'
import { MayflyProcess, type Output, Project } from './_dev-process.ts'

afterEach(() => vi.unstubAllEnvs())

/** Each step as one line, `whoami` first. */
function commands(target: Target, project: Project, extra: readonly string[]): string[] {
  const { steps, tool } = target.deployment(
    project.folder,
    { cwd: project.folder, entry: join(project.folder, 'server.ts'), name: 'shop' },
    { secrets: new Map([['MAYFLY_SECRET', 'abc']]), extra },
  )
  return [tool.whoami, ...steps.map(({ args }) => args)].map((words) => words.join(' '))
}

it('lambda: --region and --profile reach both tools, in each spelling; other options reach sam alone', async () => {
  await using project = new Project()
  const extra = ['--region', 'eu-west-1', '--profile=shop', '--tags', 'a=b', '--parameter-overrides', 'X=1']

  const [whoami, makeStore, storeSecrets, upload] = commands(lambda, project, extra)

  for (const line of [whoami, makeStore, storeSecrets, upload]) {
    expect(line).toContain('--region eu-west-1')
    expect(line).toContain('--profile=shop')
  }
  for (const line of [whoami, makeStore, storeSecrets]) expect(line).not.toContain('--tags')
  expect(upload).toContain('--tags a=b')
})

it.each([[['--stack-name', 'staging']], [['--stack-name=staging']]])(
  'lambda: %j is the stack whose secrets are stored, whose address is printed and whose log is shown',
  async (extra) => {
    await using project = new Project()
    const shop = { cwd: project.folder, entry: join(project.folder, 'server.ts'), name: 'shop' }

    const { steps, endpoint } = lambda.deployment(project.folder, shop, {
      secrets: new Map([['MAYFLY_SECRET', 'abc']]),
      extra,
    })
    const { lookup, step } = lambda.logs!(shop, extra)

    const lines = [...steps, endpoint!.step!, lookup!].map(({ args }) => args.join(' '))
    expect(lines.map((line) => /--stack-name (\S+)/.exec(line)?.[1])).toEqual([
      'staging-secrets',
      undefined,
      'staging',
      'staging',
      'staging',
    ])
    expect(lines[2]).toContain('StoredVariables=staging-secrets')
    expect(lines[2]!.match(/--stack-name/g)).toHaveLength(1)
    expect(JSON.parse(steps[1]!.stdin!)).toMatchObject({ SecretId: 'staging-secrets' })
    expect(step.args).not.toContain('staging')
    expect(step.args.join(' ')).not.toContain('--stack-name')
  },
)

it.each([
  [['--parameter-overrides', 'X=1', 'Y=2']],
  [['--parameter-overrides=X=1', 'Y=2']],
  [['--parameter-overrides=X=1', '--tags', 'a=b', '--parameter-overrides=Y=2']],
])('lambda: %j and its own parameters are one option, which sam reads once', async (extra) => {
  await using project = new Project()
  const upload = commands(lambda, project, extra).at(-1)!
  expect(upload.match(/--parameter-overrides/g)).toHaveLength(1)
  expect(upload).toMatch(/--parameter-overrides X=1 Y=2 StoredVariables=shop-secrets StoredVersion=\S+$/)
})

it('lambda: a bucket of one’s own replaces the one that SAM shares between all stacks', async () => {
  await using project = new Project()
  expect(commands(lambda, project, []).at(-1)).toContain(' --resolve-s3 ')
  for (const extra of [['--s3-bucket', 'mine'], ['--s3-bucket=mine']]) {
    const upload = commands(lambda, project, extra).at(-1)!
    expect(upload).not.toContain('--resolve-s3')
    expect(upload).toMatch(/ --s3-bucket[ =]mine /)
  }
})

it('lambda: a stack’s name that makes its functions’ too long → refused', async () => {
  await using project = new Project()
  const name = 'x'.repeat(51)
  expect(() => commands(lambda, project, ['--stack-name', name])).toThrow(
    `the stack's name, ${name}, has 51 characters: AWS allows 50`,
  )
  expect(commands(lambda, project, ['--stack-name', name.slice(1)])).toHaveLength(4)
})

it('lambda: a parameter that --secret sets → refused', async () => {
  await using project = new Project()
  expect(() => commands(lambda, project, ['--parameter-overrides=StoredVariables=mine'])).toThrow(
    'StoredVariables and StoredVersion are set by --secret',
  )
})

it.each([
  ['--site', 'shop-site', 'shop-site.netlify.app'],
  ['-s', '3f0e9e8a-1c1b-4a5e-9a56-0c1b7d9f2a10', '3f0e9e8a-1c1b-4a5e-9a56-0c1b7d9f2a10'],
])('netlify: %s %s is where the secrets go, before the environment', async (option, given, site) => {
  await using project = new Project()
  vi.stubEnv('NETLIFY_SITE_ID', 'other')

  const [whoami, setSecrets, upload] = commands(netlify, project, [option, given, '--auth', 't'])

  expect(setSecrets).toContain(` ${site} --auth t`)
  expect(upload).toBe(`deploy --prod --json ${option} ${given} --auth t`)
  expect(whoami).toContain('--auth t')
})

it('netlify: an empty NETLIFY_SITE_ID, as GitHub makes of one that is not set, is none', async () => {
  await using project = new Project()
  mkdirSync(join(project.folder, '.netlify'))
  project.write('.netlify/state.json', '{ "siteId": "3f0e9e8a-1c1b-4a5e-9a56-0c1b7d9f2a10" }')
  vi.stubEnv('NETLIFY_SITE_ID', '')

  const [, setSecrets] = commands(netlify, project, [])

  expect(setSecrets).toContain(' 3f0e9e8a-1c1b-4a5e-9a56-0c1b7d9f2a10')
})

it('netlify: without a site there is one line, and nothing is handed over or created; a dry run needs none', async () => {
  await using project = new Project()
  mkdirSync(join(project.folder, 'node_modules/netlify-cli'), { recursive: true })
  project.write(
    'node_modules/netlify-cli/package.json',
    '{ "name": "netlify-cli", "bin": { "netlify": "run.js" } }',
  )
  project.write(
    'node_modules/netlify-cli/run.js',
    `#!${process.execPath}\nprocess.exit(process.argv[3] === 'getCurrentUser' ? 0 : 9)\n`,
  )
  chmodSync(join(project.folder, 'node_modules/netlify-cli/run.js'), 0o755)
  project.write('server.ts', `export default { fetch: () => new Response('hello') }`)
  project.write('package.json', '{ "name": "shop" }')
  const args = ['deploy', '--target', 'netlify', '--secret', 'API_KEY']
  const env = { API_KEY: 'abcdefghij', NETLIFY_SITE_ID: undefined }
  const run = (...more: string[]): Promise<Output> =>
    new MayflyProcess([...args, ...more], project.folder, undefined, env).exited

  const dry = await run('--dry-run')
  expect(dry.code, dry.stderr).toBe(0)
  const { code, stderr } = await run()
  expect(code).toBe(1)
  expect(stderr).toMatch(
    /^mayfly: the site shop may exist already, and may be another project's: if it is yours, run npx netlify link, or set NETLIFY_SITE_ID$/m,
  )
  expect(stderr).not.toContain('upload the site')
})

it('deno: --org and --app reach both steps, once, before what is configured', async () => {
  await using project = new Project()
  project.write('deno.json', '{ "deploy": { "org": "acme", "app": "till" } }')

  const [, setSecrets, upload] = commands(deno, project, [
    '--org',
    'other',
    '--app=web',
    '--token',
    't',
    '--x',
  ])

  expect(setSecrets).toBe(
    'deploy env load /dev/stdin --replace --org other --app web --non-interactive --token t',
  )
  expect(upload).toBe('deploy --prod --org other --app web --non-interactive --token t --x')
})

it('vercel, supabase: options of the upload alone do not reach the other steps, which would refuse them', async () => {
  await using project = new Project()

  const [whoami, link, addSecret, upload] = commands(vercel, project, [
    '--token',
    't',
    '--meta',
    'a=b',
    '--scope=me',
  ])
  expect(whoami).toBe('whoami --token t --scope=me')
  expect(link).toBe('link --yes --project shop --token t --scope=me')
  expect(addSecret).toMatch(/ --yes --token t --scope=me$/)
  expect(upload).toMatch(/ --token t --meta a=b --scope=me$/)

  const [, setSecrets, deploy] = commands(supabase, project, ['--project-ref', 'r', '--jobs', '2'])
  expect(setSecrets).toMatch(/--project-ref r$/)
  expect(deploy).toMatch(/--project-ref r --jobs 2$/)
})

it('supabase: the project that --remote names gets the secrets, too, and its logs are shown', async () => {
  await using project = new Project()
  const ref = 'abcdefghijklmnopqrst'
  const of = { cwd: project.folder, entry: join(project.folder, 'server.ts'), name: 'shop' }

  const [whoami, setSecrets, deploy] = commands(supabase, project, [`--remote=${ref}`, '--jobs', '2'])

  expect(whoami).toBe('projects list')
  expect(setSecrets).toMatch(/ --remote=abcdefghijklmnopqrst$/)
  expect(deploy).toMatch(/ --remote=abcdefghijklmnopqrst --jobs 2$/)
  const logsOf = (extra: string[]) => supabase.logs?.(of, extra).step.args.join(' ')
  expect(logsOf([])).toBe('logs --remote --service functions')
  expect(logsOf([`--remote=${ref}`])).toBe(`logs --service functions --remote=${ref}`)
  vi.stubEnv('SUPABASE_PROJECT_ID', ref)
  expect(logsOf(['--since', '5m'])).toBe(`logs --remote=${ref} --service functions --since 5m`)
})

it('a build for Deno keeps the organisation and the app that deno deploy has written into the earlier one', async () => {
  await using project = new Project()
  project.write('server.ts', `export default { fetch: () => new Response('hello') }`)
  const of = { cwd: project.folder, entry: join(project.folder, 'server.ts'), name: 'shop' }
  const out = join(project.folder, 'dist/deno')
  mkdirSync(join(project.folder, 'dist'))
  await buildInto(deno, of, out)
  const config = JSON.parse(readFileSync(join(out, 'deno.json'), 'utf8')) as object
  project.write('dist/deno/deno.json', JSON.stringify({ ...config, deploy: { org: 'acme', app: 'till' } }))

  await buildInto(deno, of, out)

  expect(JSON.parse(readFileSync(join(out, 'deno.json'), 'utf8'))).toEqual({
    ...config,
    deploy: { org: 'acme', app: 'till' },
  })
  const { steps } = deno.deployment(out, of, { secrets: new Map(), extra: [] })
  expect(steps[0]?.args).toContain('acme')
})

it('an option is found in each spelling, with its value', () => {
  const words = ['a', '--region', 'x', '--debug', '--profile=p', '--region=y']
  expect(pickOptions(words, ['--region', '--debug'])).toEqual(['--region', 'x', '--debug', '--region=y'])
  expect(withoutOptions(words, ['--region', '--debug'])).toEqual(['a', '--profile=p'])
  expect(optionValue(words, ['--profile'])).toBe('p')
  // The tools use the last one, too.
  expect(optionValue(words, ['--region'])).toBe('y')
  expect(optionValue(words, ['--org'])).toBeUndefined()
  const short = ['-s', 'one', '-stwo', '-x', '-s=three=3', '--site', '-S']
  expect(pickOptions(short, ['-s'])).toEqual(['-s', 'one', '-stwo', '-s=three=3'])
  expect(withoutOptions(short, ['-s'])).toEqual(['-x', '--site', '-S'])
  expect(optionValue(short, ['-s'])).toBe('three=3')
  expect(optionValue(short.slice(0, 3), ['-s', '--site'])).toBe('two')
  expect(optionValue(['-s'], ['-s'])).toBeUndefined()
})
