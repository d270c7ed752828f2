/** `mayfly deploy` up to the platform's own tool. What the tools themselves do is shown in `test/platform-clis`. */
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { areAlive, MayflyProcess, type Output, Project, stopAll, until } from './_dev-process.ts'

afterAll(stopAll)

const TIMEOUT_MS = 180_000
/** Of this run alone: the list of processes may hold those of another. */
const SECRET = randomBytes(16).toString('hex')
/** Of a file, and not sent. */
const FILED = 'kept-in-a-file-0123456789'

/** A stand-in for the tool writes down how it was called: it is the CLI around it that is under test. */
function writeTool(project: Project, exitCodes: { whoami: number; deploy: number }): void {
  const folder = join(project.folder, 'node_modules/wrangler')
  mkdirSync(folder, { recursive: true })
  project.write(
    'node_modules/wrangler/package.json',
    '{ "name": "wrangler", "bin": { "wrangler": "cli.js" } }',
  )
  project.write(
    'node_modules/wrangler/cli.js',
    `#!/usr/bin/env node
const { appendFileSync, mkdirSync, readFileSync, writeFileSync } = require('node:fs')
const [command, ...args] = process.argv.slice(2)
const isBuild = args.includes('--dry-run')
if (isBuild) {
  const out = args[args.indexOf('--outdir') + 1]
  writeFileSync(out + '/server.js', 'export default { fetch: () => new Response("hello") }')
  process.exit(0)
}
if (command === 'check') process.exit(1)
const input = args.includes('/dev/stdin') ? readFileSync(0, 'utf8') : ''
appendFileSync(${JSON.stringify(join(project.folder, 'calls.jsonl'))}, JSON.stringify({ command, args, input }) + '\\n')
const report = process.env.WRANGLER_OUTPUT_FILE_PATH
if (report) writeFileSync(report, '{ "type": "deploy", "targets": ["https://shop.acme.workers.dev"] }')
process.exit(${JSON.stringify(exitCodes)}[command] ?? 0)
`,
  )
  chmodSync(join(folder, 'cli.js'), 0o755)
}

interface Call {
  command: string
  args: string[]
  input: string
}

function calls(project: Project): Call[] {
  if (!readdirSync(project.folder).includes('calls.jsonl')) return []
  const lines = readFileSync(join(project.folder, 'calls.jsonl'), 'utf8').trim().split('\n')
  return lines.map((line) => JSON.parse(line) as Call)
}

async function arrange(exitCodes = { whoami: 0, deploy: 0 }): Promise<Project> {
  const project = new Project()
  project.write('server.ts', `export default { fetch: () => new Response('hello') }`)
  project.write('package.json', '{ "name": "@shops/My_Shop" }')
  writeTool(project, exitCodes)
  return project
}

function deploy(project: Project, ...args: string[]): Promise<Output> {
  // No wrangler.toml names the Worker, and nothing is at the URL that the stand-in tells.
  const all = ['deploy', '--target', 'cloudflare', '--yes', '--no-check', ...args]
  return new MayflyProcess(all, project.folder).exited
}

describe('mayfly deploy', { timeout: TIMEOUT_MS }, () => {
  test('builds, asks who is logged in, and uploads what was built', async () => {
    await using project = await arrange()

    const { code, stderr } = await deploy(project, '--', '--env', 'staging')

    expect(stderr).toContain('built dist/cloudflare/server.js')
    expect(code).toBe(0)
    const [whoami, lookUp, upload, ...others] = calls(project)
    expect(whoami).toMatchObject({ command: 'whoami' })
    expect(lookUp).toMatchObject({
      command: 'deployments',
      args: ['list', '--name', 'shops-my-shop-staging', '--json'],
    })
    expect(upload?.command).toBe('deploy')
    expect(upload?.args).toEqual([
      join(project.folder, 'dist/cloudflare/server.js'),
      '--no-bundle',
      '--config',
      join(project.folder, 'dist/cloudflare/wrangler.json'),
      '--keep-vars',
      '--env',
      'staging',
    ])
    expect(others).toEqual([])
    const config = readFileSync(join(project.folder, 'dist/cloudflare/wrangler.json'), 'utf8')
    expect(JSON.parse(config)).toMatchObject({ name: 'shops-my-shop', main: 'server.js' })
  })

  test('a build that is over the limit of the platform is warned of, and uploaded', async () => {
    await using project = await arrange()
    const cli = join(project.folder, 'node_modules/wrangler/cli.js')
    const large = readFileSync(cli, 'utf8').replace(
      'export default { fetch',
      `/* ' + 'x'.repeat(65 * 1024 * 1024) + ' */ export default { fetch`,
    )
    project.write('node_modules/wrangler/cli.js', large)

    const { code, stderr } = await deploy(project)

    expect(stderr).toMatch(
      /is over the limit of Cloudflare Workers \(Worker size.*developers\.cloudflare\.com/,
    )
    expect(code).toBe(0)
    expect(calls(project).map(({ command }) => command)).toEqual(['whoami', 'deployments', 'deploy'])
  })

  test('--secret goes to the tool on stdin, into no file, and onto no screen', async () => {
    await using project = await arrange()
    project.write('.env', `MAYFLY_SECRET=${SECRET}\nOTHER=stays-at-home\n`)

    const { code, stdout, stderr } = await deploy(project, '--secret', 'MAYFLY_SECRET')

    expect(code).toBe(0)
    expect(JSON.parse(calls(project)[2]?.input ?? '')).toEqual({ MAYFLY_SECRET: SECRET })
    expect(calls(project)[2]?.args.join(' ')).not.toContain(SECRET)
    expect(stdout + stderr).not.toContain(SECRET)
    expect(stderr).toContain('OTHER is not uploaded: pass --secret OTHER')
    const built = join(project.folder, 'dist/cloudflare')
    for (const name of readdirSync(built))
      expect(readFileSync(join(built, name), 'utf8')).not.toContain(SECRET)
  })

  test('--dry-run does all but the upload, and prints exactly what would be run', async () => {
    await using project = await arrange()
    project.write('.env', `MAYFLY_SECRET=${SECRET}`)

    const { code, stdout } = await deploy(
      project,
      '--secret',
      'MAYFLY_SECRET',
      '--dry-run',
      '--',
      '--env',
      "it's",
    )

    expect(code).toBe(0)
    const out = join(project.folder, 'dist/cloudflare')
    expect(stdout).toBe(
      `1  upload the Worker and its secrets\n   wrangler deploy ${out}/server.js --no-bundle --config ${out}/wrangler.json --keep-vars --secrets-file /dev/stdin --env 'it'\\''s' < (secrets, on stdin)\n`,
    )
    expect(calls(project).map(({ command }) => command)).toEqual(['whoami'])
  })

  test('--dry-run prints no token, whichever way the tool is given one', async () => {
    await using project = await arrange()
    const env = { CLOUDFLARE_API_TOKEN: 'a-token-of-the-environment' }
    const extra = [
      '-t',
      SECRET,
      '-e',
      `DB=${SECRET}`,
      `--env=K=${SECRET}`,
      '--env',
      'staging',
      '--token',
      SECRET,
      `--api-key=${SECRET}`,
      '-x',
      'a-token-of-the-environment',
      '--var',
      `DB:${SECRET}`,
      `OTHER:${SECRET}`,
      `--var=DB:${SECRET}`,
      '--define',
      `DB:'${SECRET}'`,
      '--parameter-overrides',
      `DbPassword=${SECRET}`,
      'Size=2',
      `https://user:${FILED}@db.example`,
      '-b',
      `K=${SECRET}`,
      `-eK=${SECRET}`,
      `-t${SECRET}`,
      '-p',
      SECRET,
      '--region=eu-west-1',
      '--force',
    ]
    project.write('.env', `DATABASE_PASSWORD=${FILED}\n`)
    const args = ['deploy', '--target', 'cloudflare', '--dry-run', '--', ...extra]

    const { code, stdout, stderr } = await new MayflyProcess(args, project.folder, undefined, env).exited

    expect(code).toBe(0)
    expect(stdout).toMatch(
      / -t … -e … --env=… --env staging --token … --api-key=… -x … --var … … --var=… --define … --parameter-overrides … … … -b … -e… -t… -p … --region=eu-west-1 --force\n$/,
    )
    expect(stdout + stderr).not.toMatch(new RegExp(`${SECRET}|${FILED}|a-token-of`))
  })

  test('nobody is logged in → one line with the command, nothing uploaded', async () => {
    await using project = await arrange({ whoami: 1, deploy: 0 })

    const { code, stderr } = await deploy(project)

    expect(code).toBe(1)
    expect(stderr).toContain(
      'mayfly: you are not logged in to wrangler: run npx wrangler login, or set CLOUDFLARE_API_TOKEN\n',
    )
    expect(calls(project)).toHaveLength(1)
  })

  test('the tool fails → its exit code', async () => {
    await using project = await arrange({ whoami: 0, deploy: 7 })
    const { code, stderr } = await deploy(project)
    expect(code).toBe(7)
    expect(stderr).toContain('failed with exit code 7')
  })

  test('a secret without a value → one line, before anything is built', async () => {
    await using project = await arrange()
    const { code, stderr } = await deploy(project, '--secret', 'NOWHERE_SET')
    expect(code).toBe(1)
    expect(stderr).toMatch(/^mayfly: NOWHERE_SET has no value: [^\n]+\n$/)
    expect(readdirSync(project.folder)).not.toContain('dist')
  })

  test.for(['node', 'bun'])(
    '--target %s → says that it is for the owner of the machine to run',
    async (target) => {
      await using project = await arrange()
      const args = ['deploy', '--target', target]
      const { code, stderr } = await new MayflyProcess(args, project.folder).exited
      expect(code).toBe(1)
      expect(stderr).toMatch(/mayfly: this target has no platform to deploy to: [^\n]+\n$/)
    },
  )
})

/** A tool that is at its work when a signal comes: it has read what it was given, and says so. */
function writeBusyTool(project: Project, name: string): void {
  const folder = join(project.folder, 'node_modules', name)
  mkdirSync(folder, { recursive: true })
  mkdirSync(join(project.folder, 'tmp'))
  project.write(`node_modules/${name}/package.json`, JSON.stringify({ name, bin: 'cli.js' }))
  project.write(
    `node_modules/${name}/cli.js`,
    `#!/usr/bin/env node
const { readFileSync, statSync, writeFileSync, renameSync } = require('node:fs')
const args = process.argv.slice(2)
if (!args.some((arg) => arg === '--secrets-file' || arg === '--env-file' || arg === 'add')) {
  if (args.includes('--dry-run')) writeFileSync(args[args.indexOf('--outdir') + 1] + '/server.js', 'export default 1')
  process.exit(0)
}
const file = args[args.indexOf('--env-file') + 1]
const isFile = args.includes('--env-file')
const given = readFileSync(isFile ? file : 0, 'utf8')
const mode = isFile ? (statSync(file).mode & 0o777).toString(8) : ''
const said = JSON.stringify({ pid: process.pid, given, mode, file: isFile ? file : '' })
writeFileSync(${JSON.stringify(join(project.folder, 'busy.tmp'))}, said)
renameSync(${JSON.stringify(join(project.folder, 'busy.tmp'))}, ${JSON.stringify(join(project.folder, 'busy.json'))})
setInterval(() => {}, 1000)
`,
  )
  chmodSync(join(folder, 'cli.js'), 0o755)
}

interface Busy {
  readonly pid: number
  readonly given: string
  readonly mode: string
  readonly file: string
}

async function deployUntilBusy(
  project: Project,
  target: string,
  tool: string,
  temporary: string = join(project.folder, 'tmp'),
): Promise<[MayflyProcess, Busy]> {
  project.write('server.ts', `export default { fetch: () => new Response('hello') }`)
  writeBusyTool(project, tool)
  const args = ['deploy', '--target', target, '--yes', '--secret', 'API_KEY']
  const named = { SUPABASE_PROJECT_ID: 'abcdefghijklmnopqrst', VERCEL_ORG_ID: 'o', VERCEL_PROJECT_ID: 'p' }
  const env = { API_KEY: SECRET, TMPDIR: temporary, ...named }
  const mayfly = new MayflyProcess(args, project.folder, undefined, env)
  const busy = join(project.folder, 'busy.json')
  await until(() => existsSync(busy))
  const said = JSON.parse(readFileSync(busy, 'utf8')) as Busy
  expect(said.given).toContain(SECRET)
  expect(execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })).not.toContain(SECRET)
  return [mayfly, said]
}

describe('a signal while the tool is at work', { timeout: TIMEOUT_MS }, () => {
  const TOOLS = [
    ['supabase', 'supabase'],
    ['cloudflare', 'wrangler'],
    ['vercel', 'vercel'],
  ] as const
  const SIGNALS = [
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const

  test.for(
    TOOLS.flatMap(([target, tool]) => SIGNALS.map(([signal, code]) => [target, signal, code, tool] as const)),
  )('%s, %s → exit code %i, the tool has ended, no secret is left in a file', async (row) => {
    const [target, signal, expected, tool] = row
    await using project = new Project()
    const [mayfly, { pid }] = await deployUntilBusy(project, target, tool)

    const { code, stdout, stderr } = await mayfly.signal(signal)

    expect(code).toBe(expected)
    expect(stdout + stderr).not.toContain(SECRET)
    await until(() => !areAlive([pid]))
    expect(readdirSync(join(project.folder, 'tmp'))).toEqual([])
  })

  test.for([
    ['absolute', undefined],
    ['relative', 'tmp'],
  ])(
    'the file that the Supabase CLI needs is its owner’s alone, and goes after SIGKILL, too (TMPDIR is %s)',
    async ([, temporary]) => {
      await using project = new Project()
      const busy = await deployUntilBusy(project, 'supabase', 'supabase', temporary)
      const [mayfly, { pid, mode, file }] = busy
      try {
        expect(mode).toBe('600')
        expect(statSync(dirname(file)).mode & 0o777).toBe(0o700)
        mayfly.child.kill('SIGKILL')
        await until(() => readdirSync(join(project.folder, 'tmp')).length === 0)
      } finally {
        // What it has started goes on, and keeps its output open.
        process.kill(pid, 'SIGKILL')
      }
      await mayfly.exited
    },
  )
})
