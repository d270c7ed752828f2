/** What `mayfly deploy` says, asks and refuses before it changes a place. Stand-ins of the tools tell what is there. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { MayflyProcess, type Output, Project, stopAll } from './_dev-process.ts'

afterAll(stopAll)

const CLI = fileURLToPath(new URL('../../deploy/cli.ts', import.meta.url))
const SITE = '3f0e9e8a-1c1b-4a5e-9a56-0c1b7d9f2a10'

/** What the platforms' tools print about a place that exists, and about one that does not. */
const TOLD = {
  exists: {
    cloudflare: ['[{ "created_on": "2026-11-01" }]', 0],
    vercel: ['  ID    prj_abc123', 0],
    netlify: [`{ "id": "${SITE}", "account_slug": "acme" }`, 0],
    lambda: ['CREATE_COMPLETE', 0],
  },
  new: {
    cloudflare: ['This Worker does not exist on your account. [code: 10007]', 1],
    vercel: ['Error: There is no project for "shop"', 1],
    netlify: ['Error: Not Found: 404', 1],
    lambda: ['An error occurred (ValidationError): Stack with id shop does not exist', 254],
  },
  unclear: {
    cloudflare: ['A request to the Cloudflare API failed.', 1],
    vercel: ['Error: Rate limited', 1],
    netlify: ['Error: 500', 1],
    lambda: ['Could not connect to the endpoint URL', 255],
  },
} as const

type Platform = keyof (typeof TOLD)['new']
type State = keyof typeof TOLD

const PROGRAMS: { readonly [platform in Platform]: readonly [path: string, bin: string][] } = {
  cloudflare: [['node_modules/wrangler/cli.cjs', 'wrangler']],
  vercel: [['node_modules/vercel/cli.cjs', 'vercel']],
  netlify: [['node_modules/netlify-cli/cli.cjs', 'netlify']],
  lambda: [
    ['bin/aws', ''],
    ['bin/sam', ''],
  ],
}

const LOOKS = /deployments list|project inspect|getSite|describe-stacks/

/** A project called shop, with a tool that tells of `state`, and writes down what else it is asked to do. */
function arrange(platform: Platform, state: State): Project {
  const project = new Project()
  project.write('server.ts', `export default { fetch: () => new Response('hello') }`)
  project.write('package.json', '{ "name": "shop" }')
  const [told, code] = TOLD[state][platform]
  for (const [path, bin] of PROGRAMS[platform]) {
    mkdirSync(join(project.folder, dirname(path)), { recursive: true })
    if (bin !== '') {
      const name = dirname(path).replace('node_modules/', '')
      project.write(`${dirname(path)}/package.json`, JSON.stringify({ name, bin: { [bin]: 'cli.cjs' } }))
    }
    project.write(
      path,
      `#!${process.execPath}
const { appendFileSync, writeFileSync } = require('node:fs')
const args = process.argv.slice(2)
const line = args.join(' ')
if (args.includes('--dry-run')) {
  writeFileSync(args[args.indexOf('--outdir') + 1] + '/server.js', 'export default { fetch: () => new Response("hello") }')
  process.exit(0)
}
if (args[0] === 'check') process.exit(1)
if (/whoami|getCurrentUser|get-caller-identity/.test(line)) process.exit(0)
if (${LOOKS}.test(line)) {
  console[${code} === 0 ? 'log' : 'error'](${JSON.stringify(told)})
  process.exit(${code})
}
if (args[0] === 'api') process.exit(0)
appendFileSync(${JSON.stringify(join(project.folder, 'calls'))}, line + '\\n')
`,
    )
    chmodSync(join(project.folder, path), 0o755)
  }
  return project
}

function changes(project: Project): string[] {
  const file = join(project.folder, 'calls')
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
}

const UNSET = Object.fromEntries(
  [
    ...['CLOUDFLARE_API_TOKEN', 'CLOUDFLARE_ACCOUNT_ID', 'CLOUDFLARE_ENV', 'VERCEL_TOKEN', 'VERCEL_ORG_ID'],
    ...['VERCEL_PROJECT_ID', 'NETLIFY_AUTH_TOKEN', 'NETLIFY_SITE_ID', 'AWS_ACCESS_KEY_ID', 'AWS_REGION'],
  ].map((name) => [name, '']),
)

function environment(project: Project): NodeJS.ProcessEnv {
  return { ...UNSET, PATH: `${join(project.folder, 'bin')}:${process.env.PATH}` }
}

function deploy(project: Project, platform: Platform, ...args: string[]): Promise<Output> {
  const all = ['deploy', '--target', platform, '--no-check', ...args]
  return new MayflyProcess(all, project.folder, undefined, environment(project)).exited
}

/** Without a team, nobody knows where Vercel's CLI looks. */
const teamOf = (platform: Platform): string[] => (platform === 'vercel' ? ['--', '--scope', 'me'] : [])

const PLATFORMS = Object.keys(PROGRAMS) as Platform[]
const LINKED: Platform[] = ['vercel', 'netlify']

describe.each(PLATFORMS)('%s, without a terminal', { timeout: 180_000 }, (platform) => {
  test.each(['exists', 'new', 'unclear'] as const)(
    'a stage that nothing names, and that is %s, is refused before anything is built, by a dry run too',
    async (state) => {
      await using project = arrange(platform, state)
      for (const args of [[], ['--yes'], ['--dry-run'], ['--dry-run', '--yes']]) {
        const { code, stdout, stderr } = await deploy(project, platform, '--stage', 'staging', ...args)
        expect(code, stderr).toBe(1)
        expect(stdout).toBe('')
        expect(stderr).toMatch(
          /^mayfly: the \w+ shop-staging may be another project's: if it is to be yours, write "mayfly": [^\n]*"shop-staging"[^\n]* in package.json\n$/,
        )
        expect(changes(project)).toEqual([])
        expect(existsSync(join(project.folder, 'dist'))).toBe(false)
      }
    },
  )

  test('the same stage is deployed, once package.json names it', async () => {
    await using project = arrange(platform, 'exists')
    const stages = { staging: { [platform]: 'shop-staging' } }
    project.write('package.json', JSON.stringify({ name: 'shop', mayfly: { stages } }))

    const { stderr } = await deploy(project, platform, '--stage', 'staging')

    expect(stderr).toMatch(
      /^mayfly: deploys staging: the \w+ shop-staging, named by package.json: it exists, and gets a new version$/m,
    )
    for (const line of changes(project)) expect(line).toMatch(/shop-staging|^env add|^deploy --prebuilt/)
    expect(changes(project).length).toBeGreaterThan(0)
  })

  test('a stage that does not exist is created, once package.json names it', async () => {
    await using project = arrange(platform, 'new')
    const stages = { staging: { [platform]: 'shop-staging' } }
    project.write('package.json', JSON.stringify({ name: 'shop', mayfly: { stages } }))
    const { stderr } = await deploy(project, platform, '--stage', 'staging', ...teamOf(platform))
    expect(stderr).toMatch(/^mayfly: deploys staging: the \w+ shop-staging[^\n]*: nothing is there yet$/m)
    expect(changes(project).join('\n')).toContain('shop-staging')
  })
})

describe.each(LINKED)('%s, not linked and without a terminal', { timeout: 180_000 }, (platform) => {
  test.each(['exists', 'unclear'] as const)(
    'what has the project’s name and %s is not replaced',
    async (state) => {
      await using project = arrange(platform, state)
      for (const args of [[], ['--yes']]) {
        const { code, stderr } = await deploy(project, platform, ...args)
        expect(code, stderr).toBe(1)
        expect(stderr).toMatch(
          /mayfly: the \w+ shop (?:may exist|exists) already, [^\n]*run npx \w+ link, or set [^\n]+\n$/,
        )
        expect(changes(project)).toEqual([])
      }
    },
  )

  test('nothing is created without --yes; with it, what is created has the project’s name', async () => {
    await using project = arrange(platform, 'new')
    const { code, stderr } = await deploy(project, platform, ...teamOf(platform))
    expect(code, stderr).toBe(1)
    expect(stderr).toMatch(
      /mayfly: there is no \w+ shop yet: run npx \w+ link, [^\n]*, or pass --yes to create it\n$/,
    )
    expect(changes(project)).toEqual([])

    const created = await deploy(project, platform, '--yes', ...teamOf(platform))

    expect(created.stderr).toMatch(/^mayfly: so that the next deployment finds it: run npx \w+ link/m)
    expect(changes(project)[0]).toMatch(
      platform === 'vercel' ? /^link --yes --project shop --scope me$/ : /^sites:create --name shop /,
    )
    expect(changes(project).at(-1)).toMatch(
      platform === 'vercel' ? /^deploy --prebuilt --prod/ : /^deploy --prod .*--site shop$/,
    )
  })
})

describe('cloudflare, without a terminal', { timeout: 180_000 }, () => {
  test('a Worker that only the package names, and that exists, is replaced only with --yes', async () => {
    await using project = arrange('cloudflare', 'exists')
    const { code, stderr } = await deploy(project, 'cloudflare')
    expect(code).toBe(1)
    expect(stderr).toMatch(
      /the Worker shop exists already, [^\n]*write a wrangler.toml with name = "shop", or pass --yes\n$/,
    )
    expect(changes(project)).toEqual([])
    await deploy(project, 'cloudflare', '--yes')
    expect(changes(project)).toHaveLength(1)
  })

  test('one that does not exist is created only with --yes: the same deployment twice does the same twice', async () => {
    await using project = arrange('cloudflare', 'new')
    const { code, stderr } = await deploy(project, 'cloudflare')
    expect(code).toBe(1)
    expect(stderr).toMatch(
      /there is no Worker shop yet: write a wrangler.toml with name = "shop", or pass --yes to create it\n$/,
    )
    expect(changes(project)).toEqual([])
    await deploy(project, 'cloudflare', '--yes')
    expect(changes(project)).toHaveLength(1)
  })

  test('a dry run warns as the deployment does: of a store that production uses, and of a place that nothing names', async () => {
    const SHARED = /^mayfly: staging and production share the KV namespace abc/m
    await using project = arrange('cloudflare', 'exists')
    const kv = (at: string): string => `[[${at}kv_namespaces]]\nbinding = "KV"\nid = "abc"\n`
    project.write('wrangler.toml', `name = "shop"\n${kv('')}[env.staging]\n${kv('env.staging.')}`)
    for (const args of [[], ['--dry-run']])
      expect((await deploy(project, 'cloudflare', '--stage', 'staging', ...args)).stderr).toMatch(SHARED)

    await using unnamed = arrange('cloudflare', 'exists')
    const { code, stderr } = await deploy(unnamed, 'cloudflare', '--dry-run')
    expect(code, stderr).toBe(0)
    expect(stderr).toMatch(
      /^mayfly: without a terminal, deploy refuses a place that nothing names: write a wrangler.toml [^\n]*, or pass --yes$/m,
    )
    expect((await deploy(unnamed, 'cloudflare', '--dry-run', '--yes')).stderr).not.toContain('refuses')
  })

  test('one that wrangler.toml names is deployed, and said with its account before', async () => {
    await using project = arrange('cloudflare', 'exists')
    project.write('wrangler.toml', 'name = "till"\naccount_id = "acc"\n')
    const { stderr } = await deploy(project, 'cloudflare')
    const said = stderr.indexOf(
      'mayfly: deploys production: the Worker till in acc, named by wrangler.toml: it exists, and gets a new version\n',
    )
    expect(said).toBeGreaterThan(0)
    expect(stderr.indexOf('mayfly: upload the Worker')).toBeGreaterThan(said)
  })
})

/** On a terminal of its own: `script` of util-linux. */
async function onTerminal(
  project: Project,
  platform: Platform,
  answer: string,
  ...args: string[]
): Promise<Output> {
  const command = [process.execPath, CLI, 'deploy', '--target', platform, '--no-check', ...args].join(' ')
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    cwd: project.folder,
    env: { ...process.env, ...environment(project), CLOUDFLARE_API_TOKEN: 't', VERCEL_TOKEN: 't' },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let stdout = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const wasAsked = stdout.includes('(y/N)')
    stdout += text
    if (!wasAsked && stdout.includes('(y/N)')) child.stdin.write(`${answer}\r`)
  })
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, stdout, stderr: '' }
}

describe('on a terminal', { timeout: 180_000 }, () => {
  test.each([
    ['', 'nothing was deployed', 1],
    ['n', 'nothing was deployed', 1],
    // The stand-in prints no URL.
    ['y', 'did not print the URL', 1],
  ] as const)('the answer %j → %s', async (answer, expected, code) => {
    await using project = arrange('cloudflare', 'exists')
    const output = await onTerminal(project, 'cloudflare', answer)
    expect(output.stdout).toContain('deploys production: the Worker shop, named after the package')
    expect(output.stdout).toContain(expected)
    expect(output.code, output.stdout).toBe(code)
    expect(changes(project)).toHaveLength(answer === 'y' ? 1 : 0)
  })

  test('an unlinked Vercel project of that name is taken only after a yes', async () => {
    await using project = arrange('vercel', 'exists')
    const { stdout } = await onTerminal(project, 'vercel', 'n')
    expect(stdout).toContain('deploys production: the project shop, named after the package')
    expect(changes(project)).toEqual([])
  })

  test('--yes asks nothing', async () => {
    await using project = arrange('cloudflare', 'new')
    const { stdout } = await onTerminal(project, 'cloudflare', 'n', '--yes')
    expect(changes(project)).toHaveLength(1)
    expect(stdout).not.toContain('(y/N)')
  })
})
