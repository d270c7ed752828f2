/** What each printed command must do. A command that no step knows fails the test: a changed page is looked at. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { untilListening } from '../../deploy/run/port.ts'
import { targets } from '../../deploy/targets/all.ts'
import { eventually } from '../_eventually.ts'
import { ROOT } from '../package/_packed.ts'
import type { Newcomer, Result, Running } from './_newcomer.ts'

export interface Visit {
  readonly newcomer: Newcomer
  readonly target: string
  /** Major version of the newcomer's Node. */
  readonly node: number
  /** What has been typed in this project: another page that says the same is not followed again. */
  readonly done: Set<string>
  /** A server that a command has left running. */
  serving?: Running | undefined
}

/** Platforms build first; on a busy machine that takes longer than anything else here. */
const READY_TIMEOUT_MS = 90_000

type Step = (command: string, visit: Visit) => Promise<void>

const STEPS: readonly (readonly [pattern: RegExp, step: Step])[] = [
  [/^npx mayfly-mcp init \S+ --target \S+ && cd \S+$/, init],
  [/^npm ci && npm run new -- \.\.\/\S+ --target \S+ && cd \.\.\/\S+$/, createFromClone],
  [/^npm install(?: --save-dev)?(?: (?:@[\w-]+\/)?[a-z][\w.-]*)*$/, install],
  [/^npm (?:test|run types|pkg set [\w.]+=[\w-]+)$/, succeed],
  [/^(?:npx mayfly|npm run) doctor$/, examine],
  [/^npm run (?:dev|preview)$|^npx mayfly (?:dev|preview)(?: --target \S+)?$/, serve],
  [/^(?:npx mayfly|npm run) build(?: --target \S+)?$/, build],
  [/^npx mayfly stdio(?: \S+)?$/, serveStdio],
  [/^echo "MAYFLY_SECRET=/, succeed],
  [/^PORT=3000 HOST=0\.0\.0\.0 (?:node|bun run) dist\/\S+$/, runArtefact],
  [/^npm start$/, runBuilt],
  [/^curl http/, callTool],
  [/^npx mayfly(?:-mcp)? check \S+(?: --json \| jq .*)?$/, check],
  [/^npx mayfly deploy\b|^npm run deploy$/, deploy],
  [/^npx mayfly (?:logs|secrets list)$/, askForLogs],
  [/^npx mayfly (?:rollback|destroy --stage \S+)$/, askFirst],
  [/^npx mayfly tasks list$/, askForTasks],
  [/^npx mayfly migrate$/, askForMigration],
  [/^npx mayfly keys create \S+$/, askForKey],
  [/^npx mayfly registry$/, writeServerJson],
  [/^npx (?:wrangler|vercel|supabase|netlify|deno) /, toolIsThere],
  // Not npm's: AWS's tools, and a clone of this repository, whose tests these are.
  [
    /^(?:pip install aws-sam-cli|aws login|aws cloudformation delete-stack --stack-name \S+|npm ci && npm (?:start|test))$/,
    async () => {},
  ],
]

export async function perform(command: string, visit: Visit): Promise<void> {
  if (visit.done.has(command)) return
  visit.done.add(command)
  const [, step] = STEPS.find(([pattern]) => pattern.test(command)) ?? []
  if (step === undefined) throw new Error(`no step knows what this must do: ${command}`)
  await step(command, visit)
}

/** What wrangler cannot do on Node 20 is said in one line. */
function isTooOld({ target, node }: Visit): boolean {
  return node < (targets.get(target)?.oldestNode ?? 0)
}

async function init(command: string, visit: Visit): Promise<void> {
  const [, folder = ''] = / && cd (\S+)$/.exec(command) ?? []
  const result = await visit.newcomer.run(`${command} && pwd`)
  expectSuccess(result)
  expect(result.stdout).toContain(`wrote ${folder}/src/server.ts`)
  expect(result.stdout).toContain(`Next:\n  cd ${folder}\n  npm install\n  npm run dev\n`)
  expect(result.stdout.includes('needs Node 22 or newer')).toBe(isTooOld(visit))
  visit.newcomer.cwd = join(visit.newcomer.cwd, folder)
  expect(result.stdout.trimEnd().split('\n').at(-1)).toBe(visit.newcomer.cwd)
}

/** In this clone, which has its packages: `npm ci` would need all of them. The folder beside it is the newcomer's. */
async function createFromClone(command: string, visit: Visit): Promise<void> {
  const [, folder = '', target = ''] = /-- \.\.\/(\S+) --target (\S+) && cd \.\.\/\1$/.exec(command) ?? []
  const project = join(visit.newcomer.cwd, folder)
  const result = await visit.newcomer.run(`cd ${ROOT} && npm run new -- ${project} --target ${target}`)
  expectSuccess(result)
  expect(result.stdout).toContain('  npm install\n  npm run dev\n')
  const { dependencies } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'))
  expect(existsSync(join(project, dependencies['mayfly-mcp'].replace(/^file:/, '')))).toBe(true)
  visit.newcomer.cwd = project
}

async function install(command: string, visit: Visit): Promise<void> {
  const result = await visit.newcomer.run(command)
  expectSuccess(result)
  // Tools of platforms have scripts, too; Mayfly has none.
  expect(result.stderr).not.toMatch(/install-scripts\s+mayfly-mcp@/)
  if (!isTooOld(visit)) expect(result.stderr).not.toContain('EBADENGINE')
}

async function succeed(command: string, { newcomer }: Visit): Promise<void> {
  expectSuccess(await newcomer.run(command))
}

async function examine(command: string, visit: Visit): Promise<void> {
  const result = await visit.newcomer.run(command)
  if (!isTooOld(visit)) return expectSuccess(result)
  expect(result.code).toBe(1)
  expect(result.stdout).toContain('Node 22')
}

/** Its client has closed its end already. */
async function serveStdio(command: string, { newcomer }: Visit): Promise<void> {
  const result = await newcomer.run(command)
  expectSuccess(result)
  expect(result.stdout).toBe('')
}

async function serve(command: string, visit: Visit): Promise<void> {
  if (isTooOld(visit)) return expectTooOld(await visit.newcomer.run(command))
  const running = visit.newcomer.start(command)
  const url = await readyUrl(running)
  await expectDice(url)
  expect(running.output()).not.toMatch(/^\s*(?:Listening on|listening on|Started development)/m)
  const { stdout } = await running.stop()
  expect(stdout.split('\n').filter((line) => line.startsWith('ready '))).toHaveLength(1)
  await expect(fetch(url)).rejects.toThrow()
}

async function build(command: string, visit: Visit): Promise<void> {
  const { newcomer, target } = visit
  expectSuccess(await newcomer.run(command))
  expect(existsSync(join(newcomer.cwd, 'dist', target, '.mayfly-build'))).toBe(true)
}

/** Goes on running: the next command asks it. */
async function runArtefact(command: string, visit: Visit): Promise<void> {
  const [, file = ''] = /(dist\/\S+)$/.exec(command) ?? []
  expect(existsSync(join(visit.newcomer.cwd, file)), file).toBe(true)
  // As on a machine that has the program.
  visit.serving = visit.newcomer.start(`PATH=node_modules/.bin:$PATH; ${command}`)
  await untilListening(3000)
}

async function runBuilt(command: string, { newcomer }: Visit): Promise<void> {
  const running = newcomer.start(command)
  await untilListening(3000)
  await expectDice(new URL('http://127.0.0.1:3000/mcp'))
  await running.stop()
}

/** Of the server that `npm run dev` serves, on whatever port is free. */
async function callTool(command: string, visit: Visit): Promise<void> {
  if (isTooOld(visit)) return
  const running = visit.newcomer.start('npm run dev')
  const url = await readyUrl(running)
  const [, printed = ''] = /^curl (\S+)/.exec(command) ?? []
  expect(new URL(printed).pathname).toBe(url.pathname)
  const result = await visit.newcomer.run(command.replace(printed, url.href))
  await running.stop()
  expectSuccess(result)
  expect(result.stdout).toMatch(/"rolls":\[/)
}

/** Of an address that only a deployment would have, what would be deployed is asked, on this machine. */
async function check(command: string, visit: Visit): Promise<void> {
  if (isTooOld(visit)) return
  const isRunning = visit.serving !== undefined
  const server = visit.serving ?? visit.newcomer.start('npx mayfly preview')
  const url = isRunning ? 'http://127.0.0.1:3000/mcp' : (await readyUrl(server)).href
  const result = await visit.newcomer.run(command.replace(/ \| jq .*$/, '').replace(/(?<=check )\S+/, url))
  await server.stop()
  visit.serving = undefined
  if (!isRunning) return expectSuccess(result)
  // It serves all addresses, and is asked at a local one, to which any name of the world may lead: each connection is judged.
  const wrong = result.stdout.match(/^ {2}wrong .*$/gm) ?? []
  expect(wrong, result.stdout + result.stderr).toEqual([])
}

/** Up to the first step that would leave this machine. */
async function deploy(command: string, visit: Visit): Promise<void> {
  const dry = command.startsWith('npm run')
    ? `${command} -- --dry-run`
    : command.replace('deploy', 'deploy --dry-run')
  const given = command.includes('API_KEY') ? `API_KEY=0123456789abcdef ${dry}` : dry
  const result = await visit.newcomer.run(given)
  if (isTooOld(visit)) return expectTooOld(result)
  expectSuccess(result)
  const secret = /^MAYFLY_SECRET=(\S+)$/m.exec(readFileSync(join(visit.newcomer.cwd, '.env'), 'utf8'))?.[1]
  expect(secret).toMatch(/^\S{32,}$/)
  expect(result.stdout + result.stderr).not.toContain(secret)
}

/** Nobody is logged in, and that is said in one line. */
async function askForLogs(command: string, { newcomer }: Visit): Promise<void> {
  const { code, stderr } = await newcomer.run(command)
  expect(code, stderr).toBe(1)
  expect(stderr).toMatch(/^mayfly: [^\n]*(?:not logged in|failed)[^\n]*$/m)
}

/** Nothing is changed without a terminal to ask on. */
async function askFirst(command: string, { newcomer }: Visit): Promise<void> {
  const { code, stdout, stderr } = await newcomer.run(command)
  expect({ code, stdout }, stderr).toEqual({ code: 1, stdout: '' })
  expect(stderr).toMatch(/^mayfly: [^\n]+$/m)
  expect(stderr).not.toMatch(/^\s+at /m)
}

/** A new server has none, and that is said in one line. */
async function askForTasks(command: string, { newcomer }: Visit): Promise<void> {
  const { code, stderr } = await newcomer.run(command)
  expect(code, stderr).toBe(1)
  expect(stderr).toMatch(/^mayfly: [^\n]*has no "tasks"$/m)
  expect(stderr).not.toMatch(/^\s+at /m)
}

/** A new server has no tables, and that is said in one line. */
async function askForMigration(command: string, { newcomer }: Visit): Promise<void> {
  const { code, stdout, stderr } = await newcomer.run(command)
  expect({ code, stdout }, stderr).toEqual({ code: 1, stdout: '' })
  expect(stderr).toMatch(/^mayfly: there is no migrate\.mjs: [^\n]+$/m)
}

/** A new server has no keys, and that is said in one line. */
async function askForKey(command: string, { newcomer }: Visit): Promise<void> {
  const { code, stdout, stderr } = await newcomer.run(command)
  expect({ code, stdout }, stderr).toEqual({ code: 1, stdout: '' })
  expect(stderr).toMatch(/^mayfly: [^\n]*apiKeys[^\n]*$/m)
  expect(stderr).not.toMatch(/^\s+at /m)
}

/** Without the URL of a deployment, it says that it needs one. */
async function writeServerJson(command: string, { newcomer }: Visit): Promise<void> {
  expect(await newcomer.run(command)).toMatchObject({ code: 1, stderr: expect.stringContaining('--url') })
  expectSuccess(await newcomer.run(`${command} --url https://dice.example.com/mcp`))
  const written = JSON.parse(readFileSync(join(newcomer.cwd, 'server.json'), 'utf8'))
  expect(written).toMatchObject({ remotes: [{ url: 'https://dice.example.com/mcp' }] })
}

/** What it would do needs an account. */
async function toolIsThere(command: string, { newcomer }: Visit): Promise<void> {
  const [, tool] = /^npx (\S+)/.exec(command) ?? []
  expect(existsSync(join(newcomer.cwd, 'node_modules/.bin', tool ?? '')), `${tool} is installed`).toBe(true)
}

function expectSuccess(result: Result): void {
  expect(result, `${result.stdout}\n${result.stderr}`).toMatchObject({ code: 0 })
}

function expectTooOld({ code, stderr }: Result): void {
  expect(code).not.toBe(0)
  expect(stderr.match(/^mayfly: (?!read ).*$/gm)).toEqual([
    expect.stringMatching(/^mayfly: wrangler needs Node 22 or newer and this is v20\.\d+\.\d+: /),
  ])
  expect(stderr).not.toMatch(/^\s+at /m)
}

export async function readyUrl(running: Running): Promise<URL> {
  let ended = false
  void running.exited.then(() => {
    ended = true
  })
  const url = await eventually(() => {
    if (ended) return undefined
    const [, found] = /^ready (\S+)$/m.exec(running.stdout) ?? []
    if (found === undefined) throw new Error(`no ready line:\n${running.output()}`)
    return found
  }, READY_TIMEOUT_MS)
  if (url === undefined) throw new Error(`ended before it was ready:\n${running.output()}`)
  return new URL(url)
}

async function expectDice(url: URL): Promise<void> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'roll_dice', arguments: { count: 2 } },
    }),
  })
  expect(await response.text()).toMatch(/"rolls":\[\d,\d\]/)
}
