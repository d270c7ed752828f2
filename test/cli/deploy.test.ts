/** `mayfly deploy` up to the platform's own tool. What the tools themselves do is shown in `test/platform-clis`. */
import { chmodSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { MayflyProcess, type Output, Project } from './_dev-process.ts'

const TIMEOUT_MS = 60_000
const SECRET = 'b6f1e0c4a9d84f2e8c7b5a3910de47aa'

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
const input = args.includes('/dev/stdin') ? readFileSync(0, 'utf8') : ''
appendFileSync(${JSON.stringify(join(project.folder, 'calls.jsonl'))}, JSON.stringify({ command, args, input }) + '\\n')
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
  return new MayflyProcess(['deploy', '--target', 'cloudflare', ...args], project.folder).exited
}

describe('mayfly deploy', { timeout: TIMEOUT_MS }, () => {
  test('builds, asks who is logged in, and uploads what was built', async () => {
    await using project = await arrange()

    const { code, stderr } = await deploy(project, '--', '--env', 'staging')

    expect(stderr).toContain('built dist/cloudflare/server.js')
    expect(code).toBe(0)
    const [whoami, upload, ...others] = calls(project)
    expect(whoami).toMatchObject({ command: 'whoami' })
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
    expect(JSON.parse(config)).toMatchObject({ name: 'my-shop', main: 'server.js' })
  })

  test('--secret goes to the tool on stdin, into no file, and onto no screen', async () => {
    await using project = await arrange()
    project.write('.env', `MAYFLY_SECRET=${SECRET}\nOTHER=stays-at-home\n`)

    const { code, stdout, stderr } = await deploy(project, '--secret', 'MAYFLY_SECRET')

    expect(code).toBe(0)
    expect(JSON.parse(calls(project)[1]?.input ?? '')).toEqual({ MAYFLY_SECRET: SECRET })
    expect(calls(project)[1]?.args.join(' ')).not.toContain(SECRET)
    expect(stdout + stderr).not.toContain(SECRET)
    expect(stderr).toContain('OTHER stays here: pass --secret OTHER')
    const built = join(project.folder, 'dist/cloudflare')
    for (const name of readdirSync(built))
      expect(readFileSync(join(built, name), 'utf8')).not.toContain(SECRET)
  })

  test('--dry-run does all but the upload, and prints exactly what would be run', async () => {
    await using project = await arrange()
    project.write('.env', `MAYFLY_SECRET=${SECRET}`)

    const { code, stdout } = await deploy(project, '--secret', 'MAYFLY_SECRET', '--dry-run', '--', "it's")

    expect(code).toBe(0)
    const out = join(project.folder, 'dist/cloudflare')
    expect(stdout).toBe(
      `wrangler deploy ${out}/server.js --no-bundle --config ${out}/wrangler.json --keep-vars --secrets-file /dev/stdin 'it'\\''s' < (secrets, on stdin)\n`,
    )
    expect(calls(project).map(({ command }) => command)).toEqual(['whoami'])
  })

  test('nobody is logged in → one line with the command, nothing uploaded', async () => {
    await using project = await arrange({ whoami: 1, deploy: 0 })

    const { code, stderr } = await deploy(project)

    expect(code).toBe(1)
    expect(stderr).toContain(
      'mayfly: nobody is logged in to wrangler: run npx wrangler login, or set CLOUDFLARE_API_TOKEN\n',
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
    expect(stderr).toMatch(/^mayfly: there is no value for NOWHERE_SET: [^\n]+\n$/)
    expect(readdirSync(project.folder)).not.toContain('dist')
  })

  test.for(['node', 'bun'])(
    '--target %s → says that it is for the owner of the machine to run',
    async (target) => {
      await using project = await arrange()
      const args = ['deploy', '--target', target]
      const { code, stderr } = await new MayflyProcess(args, project.folder).exited
      expect(code).toBe(1)
      expect(stderr).toMatch(/mayfly: there is no platform to deploy this to: [^\n]+\n$/)
    },
  )
})
