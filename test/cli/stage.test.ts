/** Which place a stage of a project is, on each platform: never production's, and known before anything is built. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Place } from '../../deploy/contract/place.ts'
import { PLACE_PLATFORMS, parseStage } from '../../deploy/project/stages.ts'
import { findTarget, targets } from '../../deploy/targets/all.ts'
import { Project } from './_dev-process.ts'

const REF = 'abcdefghijklmnopqrst'
const OTHER_REF = 'zyxwvutsrqponmlkjihg'

/** Of whoever runs the tests. */
const VARIABLES = [
  ...['CLOUDFLARE_ACCOUNT_ID', 'CLOUDFLARE_ENV', 'VERCEL_ORG_ID', 'VERCEL_PROJECT_ID', 'NETLIFY_SITE_ID'],
  ...['SUPABASE_PROJECT_ID', 'DENO_DEPLOY_ORG', 'DENO_DEPLOY_APP', 'AWS_REGION', 'AWS_DEFAULT_REGION'],
  'AWS_PROFILE',
]

beforeEach(() => {
  for (const name of VARIABLES) vi.stubEnv(name, '')
})
afterEach(() => vi.unstubAllEnvs())

const of = (project: Project) => ({
  cwd: project.folder,
  entry: join(project.folder, 'server.ts'),
  name: 'shop',
})

function placeOf(project: Project, target: string, stage?: string, extra: readonly string[] = []): Place {
  return findTarget(target).place!(of(project), { stage, extra })
}

/** What each step of a deployment of staging is told, as one line each. */
function linesOf(
  project: Project,
  target: string,
  secrets: ReadonlyMap<string, string> = new Map(),
): string[] {
  const options = { secrets, extra: [], stage: 'staging' }
  const { steps } = findTarget(target).deployment(project.folder, of(project), options)
  return steps.map(({ args, env = {} }) =>
    [...args, ...Object.entries(env).map((pair) => pair.join('='))].join(' '),
  )
}

const staging = (target: string, place: string): string =>
  JSON.stringify({ name: 'shop', mayfly: { stages: { staging: { [target]: place } } } })

const platforms = [...targets].filter(([, { isOwnMachine, place }]) => !isOwnMachine && place !== undefined)

it('every target with a platform can tell its place', () => {
  const without = [...targets].filter(([, { place, isOwnMachine }]) => place === undefined && !isOwnMachine)
  expect(without.map(([name]) => name)).toEqual([])
  expect(platforms.length).toBeGreaterThan(6)
})

describe.each(platforms)('%s', (name) => {
  const target = name.replace('-edge', '')

  it('a stage that package.json names is that place, and not production', async () => {
    await using project = new Project()
    vi.stubEnv('SUPABASE_PROJECT_ID', REF)
    project.write('package.json', staging(target, OTHER_REF))

    const place = placeOf(project, name, 'staging')
    const production = placeOf(project, name)

    expect(place).toMatchObject({ stage: 'staging', namedBy: 'package.json' })
    expect([place.name, place.account]).toContain(OTHER_REF)
    expect(production.stage).toBeUndefined()
    expect([production.name, production.account]).not.toContain(OTHER_REF)
    expect((place.lookUp?.step.args ?? place.options).join(' ')).toContain(OTHER_REF)
  })

  it('a stage at the place of production is refused', async () => {
    await using project = new Project()
    vi.stubEnv('SUPABASE_PROJECT_ID', REF)
    project.write('package.json', staging(target, target === 'supabase' ? REF : 'shop'))
    expect(() => placeOf(project, name, 'staging')).toThrow(/staging would be production's/)
  })

  it('also in another spelling', async () => {
    await using project = new Project()
    vi.stubEnv('SUPABASE_PROJECT_ID', REF)
    project.write('package.json', staging(target, target === 'supabase' ? REF.toUpperCase() : 'Shop'))
    expect(() => placeOf(project, name, 'staging')).toThrow(/staging would be production's/)
  })

  it('two stages at one place are refused, in any spelling, and whether the second is declared or not', async () => {
    await using project = new Project()
    vi.stubEnv('SUPABASE_PROJECT_ID', REF)
    const place = target === 'supabase' ? OTHER_REF : 'shop-beta'
    const stages = { staging: { [target]: place }, beta: { [target]: place.toUpperCase() } }
    project.write('package.json', JSON.stringify({ mayfly: { stages } }))
    for (const [stage, other] of [
      ['staging', 'beta'],
      ['beta', 'staging'],
    ] as const)
      expect(() => placeOf(project, name, stage)).toThrow(
        new RegExp(`^${stage} would be the ${place} of ${other}: name another place`, 'i'),
      )
    if (target === 'supabase') return
    project.write('package.json', staging(target, place))
    expect(() => placeOf(project, name, 'beta')).toThrow(/^beta would be the shop-beta of staging/)
    expect(placeOf(project, name, 'staging').name).toBe(place)
  })

  it('production at the place of a stage is refused, too', async () => {
    await using project = new Project()
    vi.stubEnv('SUPABASE_PROJECT_ID', REF)
    project.write('package.json', staging(target, target === 'supabase' ? REF : 'Shop'))
    expect(() => placeOf(project, name)).toThrow(
      /^production would be the \S+ of staging: deploy with --stage staging/,
    )
  })

  it.each([
    [{ stagse: {} }, /"mayfly" in package.json has no "stagse": did you mean "stages"\? Its members are /],
    [
      { stages: { staging: { [`${target}s`]: 'x' } } },
      new RegExp(
        `"stages": { "staging": … } in package.json has no "${target}s": did you mean "${target}"\\? Its platforms are cloudflare, vercel, netlify, deno, supabase, lambda$`,
      ),
    ],
    [{ stages: { beta: { [`${target}-edge`]: 'x' } } }, /in package.json has no "\S+-edge": did you mean/],
    [
      { stages: { Staging: { [target]: 'x' } } },
      /in package.json: the stage "Staging" must be a name of 1 to 20/,
    ],
    [
      { stages: { production: {} } },
      /in package.json: the stage "production" names production, which is not a stage/,
    ],
  ])('%j is refused for every stage, with what is known', async (mayfly, expected) => {
    await using project = new Project()
    vi.stubEnv('SUPABASE_PROJECT_ID', REF)
    project.write('package.json', JSON.stringify({ mayfly }))
    for (const stage of [undefined, 'staging', 'other'])
      expect(() => placeOf(project, name, stage), stage).toThrow(expected)
  })

  it.each([
    [{ staging: 'x' }],
    ['staging'],
    [{ staging: { [target]: '--prod' } }],
    [{ staging: { [target]: 3 } }],
  ])('"stages": %j is refused with what to write', async (stages) => {
    await using project = new Project()
    vi.stubEnv('SUPABASE_PROJECT_ID', REF)
    project.write('package.json', JSON.stringify({ mayfly: { stages } }))
    expect(() => placeOf(project, name, 'staging')).toThrow(/in package.json is not valid: write "mayfly"/)
  })
})

it('package.json may name a place on each platform that has places', () => {
  const named = platforms.map(([name]) => name.replace('-edge', ''))
  expect(new Set<string>(PLACE_PLATFORMS)).toEqual(new Set(named))
})

describe('vercel: a stage at the project of production is refused, however the environment names it', () => {
  const told = (id: string, name: string) => ({
    code: 0,
    output: `> Found Project me/${name}\n\n  General\n\n    \u001b[36mID\u001b[39m\t\t\t\t${id}\n    Name\t\t\t${name}\n`,
  })
  it.each([
    ['its id, and the stage its name', 'prj_x', 'till'],
    ['its name, and the stage its id', 'till', 'prj_x'],
    ['its id, as the stage does', 'prj_x', 'prj_x'],
  ])('%s', async (_what, production, place) => {
    await using project = new Project()
    vi.stubEnv('VERCEL_ORG_ID', 'team_x')
    vi.stubEnv('VERCEL_PROJECT_ID', production)
    project.write('package.json', staging('vercel', place))
    const ask = () => placeOf(project, 'vercel', 'staging').lookUp!.read(told('prj_x', 'till'))
    expect(ask).toThrow(/^staging would be production's (?:prj_x|till): name another place/)
  })

  it('and production at the project of a stage', async () => {
    await using project = new Project()
    vi.stubEnv('VERCEL_PROJECT_ID', 'prj_s')
    project.write('package.json', staging('vercel', 'shop-staging'))
    const { lookUp } = placeOf(project, 'vercel')
    expect(() => lookUp!.read(told('prj_s', 'shop-staging'))).toThrow(
      /^production would be the shop-staging of staging/,
    )
  })

  it('another project is not, and without an answer nothing is changed', async () => {
    await using project = new Project()
    vi.stubEnv('VERCEL_ORG_ID', 'team_x')
    vi.stubEnv('VERCEL_PROJECT_ID', 'prj_x')
    project.write('package.json', staging('vercel', 'shop-staging'))
    const { lookUp } = placeOf(project, 'vercel', 'staging')
    expect(lookUp!.read(told('prj_s', 'shop-staging'))).toBe('exists')
    expect(lookUp!.isDecisive).toBe(true)
    vi.stubEnv('VERCEL_PROJECT_ID', '')
    expect(placeOf(project, 'vercel', 'staging').lookUp!.isDecisive).toBe(false)
  })
})

describe('netlify: a stage at the site of production is refused, however it is called', () => {
  const SITE = '3f0e9e8a-1c1b-4a5e-9a56-0c1b7d9f2a10'
  const SPELLINGS = [
    ...['shop', 'SHOP', 'shop.netlify.app', 'Shop.Netlify.App', 'shop.netlify.app.', 'shop.netlify.app:443'],
    ...['shop.netlify.com', 'main--shop.netlify.app'],
  ]
  it.each(SPELLINGS)('%s', async (spelling) => {
    await using project = new Project()
    for (const production of ['', ...SPELLINGS]) {
      vi.stubEnv('NETLIFY_SITE_ID', production)
      project.write('package.json', staging('netlify', spelling))
      expect(() => placeOf(project, 'netlify', 'staging'), production).toThrow(
        /staging would be production's/,
      )
    }
  })

  it.each([
    ['its id', SITE.toUpperCase(), SITE, { id: SITE }],
    ['its own domain', 'shop.example', SITE, { id: SITE, custom_domain: 'shop.example' }],
    ['its id, and production its domain', SITE, 'shop.example', { id: SITE, custom_domain: 'shop.example' }],
    ['another domain of it', 'a.example', 'b.example', { id: SITE, domain_aliases: ['B.example'] }],
    ['its id, and production its name', SITE, '', { id: SITE, name: 'shop' }],
  ])('%s', async (_what, place, production, site) => {
    await using project = new Project()
    vi.stubEnv('NETLIFY_SITE_ID', production)
    project.write('package.json', staging('netlify', place))
    const ask = () => {
      const { lookUp } = placeOf(project, 'netlify', 'staging')
      lookUp!.read({ code: 0, output: `${JSON.stringify({ ...site, account_slug: 'acme' })}\nwarning` })
    }
    expect(ask).toThrow(/staging would be production's/)
  })

  it('another site is not', async () => {
    await using project = new Project()
    for (const other of ['shop-2', 'shop2.netlify.app', 'shop.netlify.app.example', 'shop--x.netlify.app']) {
      project.write('package.json', staging('netlify', other))
      const { name, lookUp } = placeOf(project, 'netlify', 'staging')
      expect(name).toBe(other)
      expect(lookUp!.read({ code: 0, output: '{ "id": "x", "name": "y", "account_slug": "a" }' })).toBe(
        'exists',
      )
    }
  })
})

describe('a stage that nothing names', () => {
  it.each([
    ['cloudflare', 'Worker', 'shop-staging', ['--name', 'shop-staging']],
    ['vercel', 'project', 'shop-staging', []],
    ['netlify', 'site', 'shop-staging', ['--site', 'shop-staging']],
    ['deno', 'app', 'shop-staging', ['--app', 'shop-staging']],
    ['lambda', 'stack', 'shop-staging', ['--stack-name', 'shop-staging']],
  ])('%s: the %s %s, which may be of another project', async (target, kind, name, options) => {
    await using project = new Project()
    expect(placeOf(project, target, 'staging')).toMatchObject({ kind, name, options, namedBy: undefined })
  })

  it('supabase: refused, since a project has no name of ours', async () => {
    await using project = new Project()
    expect(() => placeOf(project, 'supabase', 'staging')).toThrow(
      /no Supabase project is named for staging: .* write "mayfly": \{ "stages": .*"supabase"/,
    )
  })
})

describe('the server is told its stage', () => {
  it.each([
    ['cloudflare', /deploy .*--name shop-staging --var MAYFLY_STAGE:staging/],
    ['vercel', /^deploy .*--env MAYFLY_STAGE=staging/],
    ['lambda', /--stack-name shop-staging .*--parameter-overrides Stage=staging/],
  ] as const)('%s, on the command line', async (target, expected) => {
    await using project = new Project()
    expect(linesOf(project, target).at(-1)).toMatch(expected)
  })

  it.each(['netlify', 'deno', 'supabase'])('%s, beside the secrets', async (target) => {
    await using project = new Project()
    project.write('package.json', staging('supabase', OTHER_REF))
    const options = { secrets: new Map([['A', 'abc']]), extra: [], stage: 'staging' }
    const { steps } = findTarget(target).deployment(project.folder, of(project), options)
    const told = steps[0]!.stdin ?? steps[0]!.secretFile
    expect(told).toContain('MAYFLY_STAGE')
    expect(told).toContain('staging')
    for (const { args } of steps) expect(args.join(' ')).toMatch(/shop-staging|zyxwvutsrqponmlkjihg/)
  })
})

describe('variables and links of production are not those of a stage', () => {
  it('vercel: the build is linked to the project of the stage, in the team of production', async () => {
    await using project = new Project()
    mkdirSync(join(project.folder, '.vercel'))
    project.write(
      '.vercel/project.json',
      '{ "orgId": "team_x", "projectId": "prj_x", "projectName": "shop" }',
    )
    vi.stubEnv('VERCEL_PROJECT_ID', 'prj_x')

    const [link, variable, upload] = linesOf(project, 'vercel', new Map([['A', 'abc']]))

    expect(link).toBe('link --yes --project shop-staging --scope team_x VERCEL_ORG_ID= VERCEL_PROJECT_ID=')
    expect(variable).toMatch(/^env add A production .* VERCEL_ORG_ID= VERCEL_PROJECT_ID=$/)
    expect(upload).toMatch(/ VERCEL_ORG_ID= VERCEL_PROJECT_ID=$/)
  })

  it('netlify: --site is before NETLIFY_SITE_ID', async () => {
    await using project = new Project()
    vi.stubEnv('NETLIFY_SITE_ID', 'shop-live')
    expect(linesOf(project, 'netlify').at(-1)).toBe(
      'deploy --prod --json --site shop-staging NETLIFY_SITE_ID=',
    )
  })

  it('supabase: --remote is before the link and SUPABASE_PROJECT_ID', async () => {
    await using project = new Project()
    project.write('package.json', staging('supabase', OTHER_REF))
    vi.stubEnv('SUPABASE_PROJECT_ID', REF)
    const options = { secrets: new Map(), extra: [], stage: 'staging' }
    const { endpoint } = findTarget('supabase').deployment(project.folder, of(project), options)
    expect(endpoint?.find('')).toBe(`https://${OTHER_REF}.supabase.co/functions/v1/shop/mcp`)
    for (const line of linesOf(project, 'supabase')) expect(line).toContain(`--remote=${OTHER_REF}`)
  })

  it('deno: DENO_DEPLOY_APP names production, in whose organization the stage is', async () => {
    await using project = new Project()
    vi.stubEnv('DENO_DEPLOY_APP', 'till')
    vi.stubEnv('DENO_DEPLOY_ORG', 'acme')
    expect(placeOf(project, 'deno', 'staging').options).toEqual(['--org', 'acme', '--app', 'till-staging'])
    expect(placeOf(project, 'deno')).toMatchObject({
      name: 'till',
      namedBy: 'DENO_DEPLOY_APP',
      account: 'acme',
    })
  })

  it('lambda: secrets, outputs and address are those of the stage’s stack', async () => {
    await using project = new Project()
    const options = { secrets: new Map([['A', 'abc']]), extra: [], stage: 'staging' }
    const { steps, endpoint } = findTarget('lambda').deployment(project.folder, of(project), options)
    const lines = [...steps, endpoint!.step!].map(({ args, stdin = '' }) => `${args.join(' ')} ${stdin}`)
    expect(lines).toHaveLength(4)
    for (const line of lines) expect(line).toMatch(/shop-staging/)
    for (const line of lines) expect(line.replaceAll(/shop-staging/g, '')).not.toMatch(/\bshop\b/)
  })
})

describe('cloudflare: an environment of wrangler’s configuration', () => {
  const CONFIG = 'name = "till"\naccount_id = "acc"\n'

  it('is the place: its own name, else the Worker’s with the stage', async () => {
    await using project = new Project()
    project.write('wrangler.toml', `${CONFIG}[env.staging]\n[env.beta]\nname = "till-b"\n`)
    expect(placeOf(project, 'cloudflare')).toMatchObject({
      name: 'till',
      account: 'acc',
      namedBy: 'wrangler.toml',
    })
    const place = { namedBy: 'wrangler.toml', account: 'acc', env: { CLOUDFLARE_ENV: '' } }
    expect(placeOf(project, 'cloudflare', 'staging')).toMatchObject({
      ...place,
      name: 'till-staging',
      options: ['--env', 'staging'],
    })
    expect(placeOf(project, 'cloudflare', 'beta')).toMatchObject({ ...place, name: 'till-b' })
  })

  it('is read from wrangler.jsonc, with its comments', async () => {
    await using project = new Project()
    project.write('wrangler.jsonc', '{ /* ours */ "name": "till", "env": { "staging": {}, } }')
    expect(placeOf(project, 'cloudflare', 'staging').name).toBe('till-staging')
  })

  it.each([
    ['is missing', '', /wrangler.toml has no environment staging: add \[env.staging\]/],
    ['has the name of production', '[env.staging]\nname = "till"\n', /staging would be production's till/],
    [
      'has the name of another environment',
      '[env.beta]\nname = "till-staging"\n[env.staging]\n',
      /staging would be the Worker till-staging of \[env.beta\]: give one of them another name in wrangler.toml/,
    ],
    [
      'would inherit the route of production',
      'routes = [{ pattern = "mcp.shop.example", custom_domain = true }]\n[env.staging]\n',
      /staging would take production's route mcp.shop.example: set routes in \[env.staging\]/,
    ],
    [
      'has the route of production',
      'route = "mcp.shop.example/*"\n[env.staging]\nroute = "mcp.shop.example/*"\n',
      /staging would take production's route/,
    ],
  ])('that %s is refused', async (_title, more, expected) => {
    await using project = new Project()
    project.write('wrangler.toml', CONFIG + more)
    expect(() => placeOf(project, 'cloudflare', 'staging')).toThrow(expected)
  })

  it('with routes of its own is deployed; a store that production uses, too, is told', async () => {
    await using project = new Project()
    const kv = (at: string): string => `[[${at}kv_namespaces]]\nbinding = "KV"\nid = "abc"\n`
    project.write(
      'wrangler.toml',
      `${CONFIG}routes = ["mcp.shop.example/*"]\n${kv('')}[env.staging]\nroutes = []\n${kv('env.staging.')}`,
    )
    const { name, warnings } = placeOf(project, 'cloudflare', 'staging')
    expect(name).toBe('till-staging')
    expect(warnings).toEqual([expect.stringMatching(/staging and production share the KV namespace abc/)])
  })
})

describe('--stage with an option that names a place is refused', () => {
  it.each([
    ['cloudflare', ['--env', 'production']],
    ['cloudflare', ['-e=production']],
    ['cloudflare', ['--name=shop']],
    ['cloudflare', ['--config', 'other.toml']],
    ['vercel', ['--project', 'shop']],
    ['vercel', ['--target=production']],
    ['netlify', ['--site', 'shop']],
    ['netlify', ['-s', 'shop']],
    ['netlify', ['-sshop']],
    ['netlify', ['-s=shop']],
    ['netlify', ['-op']],
    ['netlify', ['-ax']],
    ['netlify', ['--message', 'm', '-osshop']],
    ['cloudflare', ['-eproduction']],
    ['cloudflare', ['-cother.toml']],
    ['netlify', ['--alias=x']],
    ['supabase', [`--project-ref=${REF}`]],
    ['supabase', ['--remote', REF]],
    ['deno', ['--app', 'shop']],
    ['lambda', ['--stack-name', 'shop']],
    ['lambda', ['--stack-name=shop']],
  ])('%s -- %j', async (target, extra) => {
    await using project = new Project()
    expect(() => placeOf(project, target, 'staging', extra)).toThrow(
      /^--stage staging and -\S+ both name a place/,
    )
  })
})

it('cloudflare: a preview says that it has what production has, and that a stage does not', async () => {
  await using project = new Project()
  const notesOf = (options: object) =>
    findTarget('cloudflare').deployment(project.folder, of(project), {
      ...{ secrets: new Map(), extra: [] },
      ...options,
    }).notes
  expect(notesOf({ isPreview: true })).toEqual([expect.stringMatching(/reads its secrets .*deploy a stage/)])
  expect(notesOf({ isPreview: false })).toBeUndefined()
  expect(notesOf({ stage: 'staging' })).toBeUndefined()
})

it('vercel: a preview has a stage of its own, and production none', async () => {
  await using project = new Project()
  const lastOf = (options: object): string => {
    const { steps } = findTarget('vercel').deployment(project.folder, of(project), {
      ...{ secrets: new Map(), extra: [] },
      ...options,
    })
    return steps.at(-1)!.args.join(' ')
  }
  expect(lastOf({ isPreview: true })).toBe('deploy --prebuilt --yes --env MAYFLY_STAGE=preview')
  expect(lastOf({})).toBe('deploy --prebuilt --prod --yes')
})

describe('lambda: the name of what belongs to another server is not one of a server', () => {
  const MESSAGE = /the stack \S+ has the name of what belongs to the server \S+ \(its secrets/
  it.each(['secrets', 'github'])('-%s', async (end) => {
    await using project = new Project()
    const named = (name: string) => ({ ...of(project), name })
    const { place, logs, deployment } = findTarget('lambda')
    const options = { secrets: new Map(), extra: [] }
    expect(() => place!(named(`shop-${end}`), {})).toThrow(MESSAGE)
    expect(() => deployment(project.folder, named(`shop-${end}`), options)).toThrow(MESSAGE)
    expect(() => logs!(named(`shop-${end}`), [])).toThrow(MESSAGE)
    for (const given of [['--stack-name', `bank-${end}`], [`--stack-name=bank-${end}`]])
      expect(() => place!(named('shop'), { extra: given })).toThrow(MESSAGE)
    expect(place!(named(`shop-${end}`), { extra: ['--stack-name', 'till'] }).name).toBe('till')
    expect(place!(named(`shop-${end}-2`), {}).name).toBe(`shop-${end}-2`)
    const stages = { staging: { lambda: `bank-${end}` } }
    project.write('package.json', JSON.stringify({ name: 'shop', mayfly: { stages } }))
    expect(() => placeOf(project, 'lambda', 'staging')).toThrow(MESSAGE)
  })
})

it.each([
  'production',
  'prod',
  'Production',
  'secrets',
  'github',
  'Staging',
  '-x',
  'x-',
  'a--b',
  '1',
  '',
  'a b',
  'a'.repeat(21),
  'ä',
])('the stage %j is refused', (text) => {
  expect(() => parseStage(text)).toThrow(
    /^--stage (?:must be a name of 1 to 20 lower case letters|names production)/,
  )
})

it.each(['staging', 'pr-12', 'a', 'a'.repeat(20)])('the stage %j is one', (text) => {
  expect(parseStage(text)).toBe(text)
})
