/** `mayfly rollback` and `mayfly destroy`: what they ask of the platforms' tools, and what they refuse. Stand-ins take the tools' place. */
import { afterAll, describe, expect, it } from 'vitest'
import { targets } from '../../deploy/targets/all.ts'
import { MayflyProcess, Project, stopAll } from './_dev-process.ts'
import { type Answer, type Ran, runWithStandIns, type StandIns } from './_stand-in.ts'

afterAll(stopAll)

const REF = 'abcdefghijklmnopqrst'
const STAGING_REF = 'zyxwvutsrqponmlkjihg'

interface Platform extends StandIns {
  readonly exists: Answer
  /** About what else would be removed. */
  readonly store?: Answer
  readonly missing: Answer
  /** The place of staging, as package.json names it, and what confirms its removal. */
  readonly place: string
  readonly confirm: string
  /** The calls that remove it, in order, as far as they matter. */
  readonly removes: readonly string[]
  /** The calls that go back to the deployment `dpl_1` of production. */
  readonly goesBack?: readonly string[]
  readonly needsTo?: true
  /** What tells whose the deployment `dpl_1` is: the place's, another's, and nothing. */
  readonly given?: { readonly own: Answer; readonly other: Answer; readonly unclear: readonly Answer[] }
}

const vercel: Platform = {
  tools: { 'node_modules/vercel/cli.cjs': 'vercel' },
  token: 'VERCEL_TOKEN',
  env: { VERCEL_ORG_ID: 'team_x', VERCEL_PROJECT_ID: 'prj_x' },
  exists: ['project inspect', '    ID\t\t\t\tprj_abc'],
  given: {
    own: ['api /v13/deployments/dpl_1', '{ "id": "dpl_1", "projectId": "prj_abc" }'],
    other: ['api /v13/deployments/dpl_1', '{ "id": "dpl_1", "projectId": "prj_other" }'],
    unclear: [
      ['api /v13/deployments/dpl_1', '{ "id": "dpl_1" }'],
      ['api /v13/deployments/dpl_1', 'Error: Not found', 1],
      ['api /v13/deployments/dpl_1', '{ "projectId": "prj_abc" }', 1],
    ],
  },
  missing: ['project inspect', 'Error: There is no project for "x"', 1],
  place: 'shop-staging',
  confirm: 'shop-staging',
  removes: ['remove shop-staging --yes'],
  goesBack: ['link --yes --project prj_x', 'rollback dpl_1 --yes'],
  needsTo: true,
}

const netlify: Platform = {
  tools: { 'node_modules/netlify-cli/cli.cjs': 'netlify' },
  token: 'NETLIFY_AUTH_TOKEN',
  env: { NETLIFY_SITE_ID: 'shop.example' },
  exists: ['api getSite', '{ "id": "site", "account_slug": "me" }'],
  given: {
    own: ['api getDeploy --data {"deploy_id":"dpl_1"}', '{ "id": "dpl_1", "site_id": "site" }'],
    other: ['api getDeploy --data {"deploy_id":"dpl_1"}', '{ "id": "dpl_1", "site_id": "other" }'],
    unclear: [
      ['api getDeploy', '{ "id": "dpl_1" }'],
      ['api getDeploy', 'Error: Not Found', 1],
    ],
  },
  missing: ['api getSite', 'Error: Not Found: 404', 1],
  place: 'shop-staging',
  confirm: 'shop-staging',
  removes: ['api deleteSite --data {"site_id":"shop-staging.netlify.app"}'],
  goesBack: ['api restoreSiteDeploy --data {"site_id":"shop.example","deploy_id":"dpl_1"}'],
  needsTo: true,
}

const PLATFORMS: { readonly [target: string]: Platform } = {
  cloudflare: {
    tools: { 'node_modules/wrangler/cli.cjs': 'wrangler' },
    token: 'CLOUDFLARE_API_TOKEN',
    exists: ['deployments list', '[{ "created_on": "2026-11-01" }]'],
    missing: ['deployments list', 'This Worker does not exist on your account. [code: 10007]', 1],
    place: 'shop-staging',
    confirm: 'shop-staging',
    removes: ['delete --name shop-staging'],
    goesBack: ['rollback dpl_1 --message mayfly rollback --yes --name shop'],
  },
  vercel,
  'vercel-edge': vercel,
  netlify,
  'netlify-edge': netlify,
  supabase: {
    tools: { 'node_modules/supabase/cli.cjs': 'supabase' },
    token: 'SUPABASE_ACCESS_TOKEN',
    env: { SUPABASE_PROJECT_ID: REF },
    exists: ['functions list', '[{ "slug": "shop" }]'],
    missing: ['functions list', '[]'],
    place: STAGING_REF,
    confirm: STAGING_REF,
    removes: [`functions delete shop --remote=${STAGING_REF} --yes`],
  },
  lambda: {
    tools: { 'bin/aws': 'aws' },
    token: 'AWS_ACCESS_KEY_ID',
    exists: ['describe-stacks', 'CREATE_COMPLETE'],
    store: ['describe-stacks --stack-name shop-staging-secrets', '["CREATE_COMPLETE", 1]'],
    missing: ['describe-stacks', 'Stack with id x does not exist', 254],
    place: 'shop-staging',
    confirm: 'shop-staging',
    removes: [
      'cloudformation delete-stack --stack-name shop-staging',
      'cloudformation wait stack-delete-complete --stack-name shop-staging',
      'cloudformation delete-stack --stack-name shop-staging-secrets',
      'cloudformation wait stack-delete-complete --stack-name shop-staging-secrets',
    ],
  },
}

/** What `mayfly destroy` says that stays. */
const stays = ({ stderr }: Ran): string[] => stderr.match(/(?<=^mayfly: {3}stays: ).*$/gm) ?? []

async function run(
  project: Project,
  target: string,
  args: readonly string[],
  {
    answers,
    isNamed = true,
    hasStore = true,
    server = `export default { fetch: () => new Response('hello') }`,
  }: { answers?: readonly Answer[]; isNamed?: boolean; hasStore?: boolean; server?: string } = {},
): Promise<Ran> {
  const platform = PLATFORMS[target]!
  project.write('server.ts', server)
  const stages = { staging: { [target.replace('-edge', '')]: platform.place } }
  project.write('package.json', JSON.stringify({ name: 'shop', ...(isNamed && { mayfly: { stages } }) }))
  const usual = [platform.exists, ...(platform.given === undefined ? [] : [platform.given.own])]
  const told = [...(hasStore ? storeOf(platform) : []), ...(answers ?? usual)]
  return runWithStandIns(project, [...args, '--target', target], platform, told)
}

const storeOf = ({ store }: Platform): Answer[] => (store === undefined ? [] : [store])

/** What was asked of the tool beside looking. */
function changes({ calls }: Ran, [look]: Answer): string[] {
  return calls
    .map(({ args }) => args.join(' '))
    .filter((line) => !line.includes(look) && !/^api (?:getDeploy|\/v13)/.test(line))
}

function expectCalls(lines: readonly string[], expected: readonly string[]): void {
  expect(lines).toHaveLength(expected.length)
  for (const [at, words] of expected.entries()) expect(lines[at]).toContain(words)
}

const withPlatform = [...targets].filter(([, { isOwnMachine }]) => !isOwnMachine).map(([name]) => name)

it('each target with a platform is tried here, or cannot', () => {
  expect(withPlatform.filter((name) => !(name in PLATFORMS))).toEqual(['deno'])
})

describe.each(Object.entries(PLATFORMS))('%s', (target, platform) => {
  it('destroy removes the stage that is confirmed, and says what stays', async () => {
    await using project = new Project()

    const ran = await run(project, target, ['destroy', '--stage', 'staging', '--confirm', platform.confirm])

    expect(ran.code, ran.stderr).toBe(0)
    expect(ran.stdout).toMatch(/^removed \S+\n$/)
    expect(ran.stderr).toMatch(/goes: {2}\S/)
    expect(ran.stderr).toMatch(/stays: \S/)
    expectCalls(changes(ran, platform.exists), platform.removes)
    // No variable of production leads elsewhere.
    const changing = ran.calls.filter(({ args }) => !args.join(' ').includes(platform.exists[0]))
    for (const { env } of changing)
      expect([env.VERCEL_PROJECT_ID, env.NETLIFY_SITE_ID, env.CLOUDFLARE_ENV].filter(Boolean)).toEqual([])
  })

  it('destroy removes nothing without the right name, without a stage, or where nothing is', async () => {
    await using project = new Project()
    const staging = ['destroy', '--stage', 'staging']

    const unconfirmed = await run(project, target, staging)
    const wrong = await run(project, target, [...staging, '--confirm', 'shop'])
    const production = await run(project, target, ['destroy', '--confirm', 'shop'])
    const empty = await run(project, target, [...staging, '--confirm', platform.confirm], {
      answers: [platform.missing],
    })

    expect(unconfirmed.stderr).toContain(`pass --confirm ${platform.confirm}`)
    expect(wrong.stderr).toContain(`"shop" is not ${platform.confirm}`)
    expect(production.stderr).toMatch(/no stage is given: pass --stage/)
    expect(empty.stderr).toMatch(/there is no /)
    expect([unconfirmed, wrong, production, empty].map(({ code }) => code)).toEqual([1, 1, 2, 1])
    expect(changes(empty, platform.exists)).toEqual([])
  })

  it('destroy without a terminal needs a place that package.json names', async () => {
    await using project = new Project()

    const ran = await run(project, target, ['destroy', '--stage', 'staging', '--confirm', platform.confirm], {
      isNamed: false,
    })

    expect(ran.code).toBe(1)
    expect(ran.stderr).toMatch(/may be another project's|no Supabase project is named/)
    expect(ran.calls).toEqual([])
  })

  it('a removal that fails ends with the code of the tool', async () => {
    await using project = new Project()
    const [first = ''] = platform.removes[0]!.split(' --')

    const ran = await run(project, target, ['destroy', '--stage', 'staging', '--confirm', platform.confirm], {
      answers: [platform.exists, [first, 'Forbidden', 3]],
    })

    expect(ran.code, ran.stderr).toBe(3)
    expect(ran.stdout).toBe('')
    expect(changes(ran, platform.exists)).toHaveLength(1)
  })

  if (platform.goesBack === undefined) {
    it('rollback says what to do instead', async () => {
      await using project = new Project()

      const ran = await run(project, target, ['rollback', '--yes'])

      expect(ran.code).toBe(1)
      expect(ran.stderr).toMatch(/check out an earlier commit, run npm ci, and deploy it/)
      expect(ran.calls).toEqual([])
    })
    return
  }

  it('rollback goes back in production, and asks first', async () => {
    await using project = new Project()

    const unasked = await run(project, target, ['rollback', '--to', 'dpl_1'])
    expect(unasked.code).toBe(1)
    expect(unasked.stderr).toMatch(/nothing was changed: without a terminal, pass --yes/)
    expect(unasked.calls).toEqual([])

    const ran = await run(project, target, ['rollback', '--to', 'dpl_1', '--yes'])
    expect(ran.code, ran.stderr).toBe(0)
    expect(ran.stdout).toMatch(/^rolled back \S+\n$/)
    expect(ran.stderr).toMatch(/secrets and stored data stay as they are/)
    expectCalls(changes(ran, platform.exists), platform.goesBack!)
  })

  it('rollback of a stage that nothing names changes nothing', async () => {
    await using project = new Project()
    const args = ['rollback', '--to', 'dpl_1', '--yes', '--stage', 'staging']

    const ran = await run(project, target, args, { isNamed: false })

    expect(ran.code).toBe(1)
    expect(ran.stderr).toMatch(/may be another project's/)
    expect(ran.calls).toEqual([])
  })

  it('rollback of a stage stays there, and takes no option of the tool for a deployment', async () => {
    await using project = new Project()

    const ran = await run(project, target, ['rollback', '--to', 'dpl_1', '--yes', '--stage', 'staging'])
    expect(ran.code, ran.stderr).toBe(0)
    expect(changes(ran, platform.exists).join('\n')).toContain('shop-staging')

    const option = await run(project, target, ['rollback', '--to=--name=shop', '--yes'])
    expect(option.code).toBe(2)
    expect(option.stderr).toMatch(/is not a deployment/)
  })

  it.runIf(platform.given !== undefined)(
    'rollback --to a deployment of another place, or of one that is not told, changes nothing',
    async () => {
      const { other, unclear } = platform.given!
      for (const [given, expected] of [
        [other, /nothing was changed: dpl_1 is a deployment of (?:prj_)?other, and the \w+ \S+ \(\w+\) is /],
        ...unclear.map((one) => [one, /does not tell whether dpl_1 is a deployment of the \w+ \S+/] as const),
      ] as const)
        for (const stage of [[], ['--stage', 'staging']]) {
          await using project = new Project()
          const args = ['rollback', '--to', 'dpl_1', '--yes', ...stage]
          const ran = await run(project, target, args, { answers: [platform.exists, given] })
          expect(ran.code, ran.stderr).toBe(1)
          expect(ran.stdout).toBe('')
          expect(ran.stderr).toMatch(expected)
          expect(changes(ran, platform.exists).join('\n')).not.toMatch(/rollback|restoreSiteDeploy/)
        }
    },
  )

  it('rollback without --to', async () => {
    await using project = new Project()

    const ran = await run(project, target, ['rollback', '--yes'])

    if (platform.needsTo) {
      expect(ran.code).toBe(1)
      expect(ran.stderr).toMatch(/pass --to/)
      expect(changes(ran, platform.exists)).toEqual([])
      return
    }
    expect(ran.code, ran.stderr).toBe(0)
    expect(changes(ran, platform.exists)[0]).toMatch(/^rollback --message/)
  })
})

it('deno: says where an app is removed, and how to go back', async () => {
  await using project = new Project()
  project.write('server.ts', `export default { fetch: () => new Response('hello') }`)
  project.write('package.json', '{ "name": "shop" }')
  const of = (...args: string[]) => new MayflyProcess([...args, '--target', 'deno'], project.folder).exited

  const removed = await of('destroy', '--stage', 'staging', '--confirm', 'shop-staging')
  expect(removed).toMatchObject({ code: 1 })
  expect(removed.stderr).toContain("remove it in the app's settings on console.deno.com")
  const back = await of('rollback', '--yes')
  expect(back).toMatchObject({ code: 1 })
  expect(back.stderr).toMatch(/check out an earlier commit/)
})

it.each([
  [
    'another server',
    '["UPDATE_COMPLETE", 0]',
    0,
    /the stack shop-staging-secrets exists and is not a store of secrets/,
  ],
  [
    'not told',
    'AccessDenied',
    254,
    /cannot tell whether the stack shop-staging-secrets is a store of secrets/,
  ],
])(
  'lambda: destroy removes nothing if the stack of the secrets is %s',
  async (_what, told, code, message) => {
    await using project = new Project()
    const { exists, confirm } = PLATFORMS.lambda!

    const ran = await run(project, 'lambda', ['destroy', '--stage', 'staging', '--confirm', confirm], {
      answers: [
        ['--stack-name shop-staging --', exists[1]],
        ['describe-stacks', told, code],
      ],
      hasStore: false,
    })

    expect(ran.code).toBe(1)
    expect(ran.stderr).toMatch(message)
    expect(changes(ran, exists)).toEqual([])
  },
)

describe('vercel: the environment names production by its id alone', () => {
  it.each([
    ['destroy', ['destroy', '--stage', 'staging', '--confirm', 'shop-staging']],
    ['rollback', ['rollback', '--stage', 'staging', '--to', 'dpl_1', '--yes']],
  ])('%s of a stage that is this project changes nothing', async (_what, args) => {
    const cases = [
      [
        ['project inspect', '    ID\t\tprj_x\n    Name\t\tshop-staging'],
        /staging would be production's prj_x/,
      ],
      [
        ['project inspect', 'Error: Rate limited', 1],
        /does not tell whether the project shop-staging .* is production's, so nothing was changed: Error: Rate limited/,
      ],
    ] as const
    for (const [inspection, expected] of cases) {
      await using project = new Project()
      const ran = await run(project, 'vercel', args, { answers: [inspection] })
      expect(ran.code, ran.stderr).toBe(1)
      expect(ran.stderr).toMatch(expected)
      expect(changes(ran, inspection)).toEqual([])
    }
  })
})

it('vercel: rollback asks for the host of a URL, in the team of the project', async () => {
  await using project = new Project()
  const args = ['rollback', '--to', 'https://shop-1-me.vercel.app/mcp', '--yes']

  const ran = await run(project, 'vercel', args, {
    answers: [
      vercel.exists,
      ['api /v13/deployments/shop-1-me.vercel.app --scope team_x', '{ "projectId": "prj_abc" }'],
    ],
  })

  expect(ran.code, ran.stderr).toBe(0)
  expect(changes(ran, vercel.exists).at(-1)).toBe(
    'rollback https://shop-1-me.vercel.app/mcp --yes --scope team_x',
  )
})

describe('destroy names what the stage has stored in databases', () => {
  const MCP =
    "import { MCPServer } from 'mayfly-mcp'\nexport default new MCPServer({ id: 'till', name: 'Till', version: '1.0.0' })"
  it.each([
    [
      'with the id of the server',
      MCP,
      [
        'in Postgres: the table mayfly.till__staging_tasks',
        'in Redis, NATS and other DynamoDB tables: what begins with mayfly_till__staging',
      ],
    ],
    [
      'with the name of the project, if the server does not load',
      "throw new Error('a binding is missing')",
      [
        "in Postgres: the table mayfly.shop__staging_tasks, if the server's id is shop: it does not load here",
        "in Redis, NATS and other DynamoDB tables: what begins with mayfly_shop__staging, if the server's id is shop: it does not load here",
      ],
    ],
    ['but nothing of a server without an id', `export default { fetch: () => new Response('hello') }`, []],
  ])('%s', async (_what, server, expected) => {
    await using project = new Project()
    project.linkPackage()
    const args = ['destroy', '--stage', 'staging', '--confirm', 'shop-staging']
    const ran = await run(project, 'netlify', args, { server })
    expect(ran.code, ran.stderr).toBe(0)
    expect(stays(ran)).toEqual(['databases outside of Netlify, which may cost', ...expected])
  })

  it('and on Cloudflare the stores of its environment', async () => {
    await using project = new Project()
    project.write(
      'wrangler.toml',
      `name = "shop"
[[kv_namespaces]]
binding = "KV"
id = "of-production"
[env.staging]
[[env.staging.kv_namespaces]]
binding = "KV"
id = "abc"
[[env.staging.queues.producers]]
binding = "Q"
queue = "tasks-staging"
`,
    )
    const args = ['destroy', '--stage', 'staging', '--confirm', 'shop-staging']
    const ran = await run(project, 'cloudflare', args)
    expect(ran.code, ran.stderr).toBe(0)
    expect(stays(ran)).toEqual([
      'the KV namespace abc',
      'the queue tasks-staging',
      'routes in zones of other accounts',
    ])
  })
})
