/**
 * The official conformance suite against `examples/everything`, on a real target: `npm run conformance -- --target node`.
 * What runs is what `mayfly build` makes for it.
 *
 * Judged scenario by scenario from the suite's own check files: a scenario passes when one of its checks succeeds and none
 * fails or warns. Counts of passed checks say nothing: a dead server passes many.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { end, startProxy, startRedis } from '../runtimes/node/_processes.ts'
import { runAuthorization } from './authorization.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const SUITE = join(ROOT, 'node_modules/@modelcontextprotocol/conformance/dist/index.js')

interface Target {
  /** In examples/everything, or a whole path. Default `server.ts`, with a bus and a rendezvous in memory. */
  readonly entry?: string
  /** The name it has for `mayfly preview`, where that is another. */
  readonly preview?: string
  /** Where the platform's configuration is. */
  readonly cwd?: string
  /** Processes behind a proxy that sends every request to the next; they share a secret, and a Redis where they use it. */
  readonly processes?: number
  /** Default: all. */
  readonly revisions?: readonly string[]
  /** What it is held against, instead of the baseline: it fails what that target fails, and nothing else. */
  readonly like?: string
  /** It keeps no tasks: the scenarios of that extension are not required. */
  readonly hasNoTasks?: boolean
  /** It signs people in: judged by the scenarios of authorization servers, and by no other, since the suite has no token to send. */
  readonly isAuthorizationServer?: boolean
  /** Somebody else's server: what it fails is for others to be held against. */
  readonly isReference?: boolean
}

const SDK = join(ROOT, 'test/conformance/sdk/')
const SIGN_IN = join(ROOT, 'test/conformance/sign-in/')
const REQUIRED = ['2026-07-28', '2025-11-25']

const TARGETS: { readonly [name: string]: Target } = {
  cloudflare: { entry: 'worker.ts', cwd: 'examples/everything' },
  deno: {},
  supabase: {},
  vercel: {},
  'vercel-edge': {},
  // Processes share no memory there.
  lambda: { entry: 'several.ts', cwd: 'test/runtimes/lambda/ric', processes: 1 },
  netlify: {},
  'netlify-edge': {},
  bun: {},
  node: {},
  'node-sessions': { entry: 'sessions.ts', preview: 'node' },
  'node-several': { entry: 'several.ts', preview: 'node', processes: 2 },
  // The official SDK's own handler, and the same server through ours.
  'sdk-v2': {
    entry: `${SDK}own.ts`,
    preview: 'node',
    revisions: REQUIRED,
    isReference: true,
    hasNoTasks: true,
  },
  'from-sdk': {
    entry: `${SDK}from-sdk.ts`,
    preview: 'node',
    revisions: REQUIRED,
    like: 'sdk-v2',
    hasNoTasks: true,
  },
  'from-sdk-cloudflare': {
    entry: `${SDK}from-sdk.ts`,
    preview: 'cloudflare',
    cwd: 'test/conformance/sdk',
    revisions: REQUIRED,
    like: 'sdk-v2',
    hasNoTasks: true,
  },
  'node-secret-only': {
    entry: 'secret-only.ts',
    preview: 'node',
    processes: 2,
    revisions: ['2026-07-28'],
    hasNoTasks: true,
  },
  'node-sign-in': { entry: `${SIGN_IN}server.ts`, preview: 'node', isAuthorizationServer: true },
  'cloudflare-sign-in': {
    entry: `${SIGN_IN}worker.ts`,
    preview: 'cloudflare',
    cwd: 'test/conformance/sign-in',
    isAuthorizationServer: true,
  },
  'deno-sign-in': { entry: `${SIGN_IN}server.ts`, preview: 'deno', isAuthorizationServer: true },
  'lambda-sign-in': {
    entry: `${SIGN_IN}several.ts`,
    preview: 'lambda',
    cwd: 'test/runtimes/lambda/ric',
    processes: 1,
    isAuthorizationServer: true,
  },
}

/** Each revision's frozen set of required scenarios; 2025-06-18 has none, so its applicable scenarios are run. */
const REVISIONS: { readonly [revision: string]: readonly string[] } = {
  '2026-07-28': ['--requirements', '2026-07-28'],
  '2025-11-25': ['--requirements', '2025-11-25'],
  '2025-06-18': ['--suite', 'active', '--spec-version', '2025-06-18'],
}

/** What only a server that keeps streams can pass, and what judges nothing yet: run by the suite, not required of anybody. */
const NOT_REQUIRED = /^server-sse-polling$|^tasks-status-notifications$/

/** An optional extension: required where the target has a store for tasks. */
const EXTENSION = /^tasks-/

interface Baseline {
  readonly [target: string]: { readonly [revision: string]: readonly string[] }
}

interface Check {
  readonly id: string
  readonly status: string
  readonly errorMessage?: string
}

interface Verdict {
  readonly scenario: string
  readonly passed: boolean
  readonly faults: readonly string[]
}

const { values } = parseArgs({
  options: { target: { type: 'string' }, revision: { type: 'string' }, scenario: { type: 'string' } },
})
const baseline = JSON.parse(readFileSync(join(import.meta.dirname, 'baseline.json'), 'utf8')) as Baseline
const totals = { passed: 0, failed: 0, expected: 0 }
let isClean = true

/** What each target has failed, by revision. */
const failures = new Map<string, ReadonlySet<string>>()

/** The suite runs one scenario after the other and mostly waits. */
const AT_ONCE = 2
const groups = values.target === undefined ? grouped() : [withReference(values.target)]
await Promise.all(
  Array.from({ length: AT_ONCE }, async () => {
    for (let group = groups.shift(); group !== undefined; group = groups.shift())
      for (const target of group) await judgeTarget(target)
  }),
)
console.log(
  `\nconformance: ${totals.passed} passed, ${totals.failed} failed, ${totals.expected} expected to fail`,
)
process.exitCode = isClean ? 0 : 1

async function judgeTarget(target: string): Promise<void> {
  const server = await startServer(target)
  try {
    for (const revision of values.revision === undefined
      ? (TARGETS[target]?.revisions ?? Object.keys(REVISIONS))
      : [values.revision]) {
      const { isAuthorizationServer, hasNoTasks } = TARGETS[target] ?? {}
      const run = isAuthorizationServer ? runAuthorizationSuite : runSuite
      report(target, revision, await run(server.url, revision, hasNoTasks))
    }
    // Another's has no pulse.
    if (TARGETS[target]?.isReference !== true) await assertAlive(server.url)
  } finally {
    await server.stop()
  }
}

/** All targets: those that are held against another are with it, in the order of the list. */
function grouped(): string[][] {
  const groups = new Map<string, string[]>()
  for (const [name, { like }] of Object.entries(TARGETS)) {
    const group = groups.get(like ?? name)
    if (group === undefined) groups.set(name, [name])
    else group.push(name)
  }
  return [...groups.values()]
}

/** What a target is held against runs before it. */
function withReference(target: string): string[] {
  const { like } = TARGETS[target] ?? {}
  return like === undefined ? [target] : [like, target]
}

function report(target: string, revision: string, verdicts: readonly Verdict[]): void {
  const { like, isReference = false } = TARGETS[target] ?? {}
  const failed = verdicts.filter(({ passed }) => !passed).map(({ scenario }) => scenario)
  failures.set(`${target} ${revision}`, new Set(failed))
  const expected = isReference
    ? new Set(failed)
    : (failures.get(`${like} ${revision}`) ?? new Set(baseline[target]?.[revision] ?? []))
  console.log(`\n${target}, MCP ${revision}`)
  for (const { scenario, passed, faults } of verdicts) {
    const isExpected = expected.has(scenario)
    if (passed) totals.passed++
    else if (isExpected) totals.expected++
    else totals.failed++
    // A failure nobody expected, or an expectation that no longer holds: the baseline may only shrink.
    // Where somebody else's server does worse by itself than through ours, that is no fault.
    if (isExpected ? passed && like === undefined : !passed) isClean = false
    const mark = passed
      ? isExpected && like === undefined
        ? 'STALE BASELINE'
        : 'ok'
      : isExpected
        ? 'expected'
        : 'FAILED'
    console.log(`  ${mark.padEnd(8)} ${scenario}${faults.map((fault) => `\n           ${fault}`).join('')}`)
  }
  // A name that nothing was judged under would stay in the baseline for ever.
  if (values.scenario !== undefined) return
  for (const scenario of expected) {
    if (verdicts.some((verdict) => verdict.scenario === scenario)) continue
    console.log(`  STALE BASELINE ${scenario}: no such scenario ran`)
    isClean = false
  }
}

async function runSuite(url: string, revision: string, hasNoTasks = false): Promise<Verdict[]> {
  const output = mkdtempSync(join(tmpdir(), 'conformance-'))
  try {
    const which =
      values.scenario === undefined
        ? REVISIONS[revision]!
        : ['--scenario', values.scenario, '--spec-version', revision]
    // Its exit code is that of its own counting, so it is not asked.
    await new Promise((done) => {
      const suite = spawn(process.execPath, [SUITE, 'server', '--url', url, ...which, '-o', output], {
        stdio: 'ignore',
      })
      suite.once('exit', done)
    })
    const judged = readdirSync(output)
      .map((folder) => judge(folder, output))
      .filter(({ scenario }) => !NOT_REQUIRED.test(scenario) && !(hasNoTasks && EXTENSION.test(scenario)))
    const unjudged = requiredScenarios(revision)
      .filter((name) => !judged.some(({ scenario }) => scenario === name))
      .map((scenario) => ({ scenario, passed: false, faults: ['The suite ended without running it.'] }))
    return [...judged, ...unjudged].sort((a, b) => a.scenario.localeCompare(b.scenario))
  } finally {
    rmSync(output, { recursive: true, force: true })
  }
}

async function runAuthorizationSuite(url: string, revision: string): Promise<Verdict[]> {
  const output = mkdtempSync(join(tmpdir(), 'conformance-'))
  const folders = { registered: join(output, 'registered'), document: join(output, 'document') }
  try {
    await runAuthorization(SUITE, url, revision, folders)
    return Object.entries(folders).flatMap(([kind, folder]) => {
      const judged = (existsSync(folder) ? readdirSync(folder) : []).map((name) => judge(name, folder))
      return listed('--authorization', '--spec-version', revision).flatMap((scenario) => {
        if (values.scenario !== undefined && values.scenario !== scenario) return []
        const verdict = judged.find((one) => one.scenario === scenario)
        const unjudged = { passed: false, faults: ['The suite ended without running it.'] }
        return { ...(verdict ?? unjudged), scenario: `${scenario}, ${kind} client` }
      })
    })
  } finally {
    rmSync(output, { recursive: true, force: true })
  }
}

/** What must have a verdict, by the suite's own list: a suite that dies halfway leaves no trace of the rest. */
function requiredScenarios(revision: string): readonly string[] {
  if (values.scenario !== undefined) return [values.scenario]
  // The list knows no suites: without a frozen set, it is that of the revision.
  const [flag] = REVISIONS[revision]!
  return listed('--server', flag === '--requirements' ? flag : '--spec-version', revision)
}

function listed(...which: readonly string[]): readonly string[] {
  const list = execFileSync(process.execPath, [SUITE, 'list', ...which], { encoding: 'utf8' })
  const names = /^\w.* scenarios.*\n((?: {2}- .*\n?)+)/m.exec(list)?.[1]?.matchAll(/- (\S+)/g)
  if (names === undefined) throw new Error(`The suite lists no scenario for ${which.join(' ')}.`)
  return Array.from(names, ([, name]) => name!)
}

function judge(folder: string, output: string): Verdict {
  // The suite names folders server-<scenario>-<time>, or authorization-server-<scenario>-<time>.
  const scenario = folder.replace(/^(authorization-)?server-/, '').replace(/-\d{4}-\d{2}-\d{2}T.*$/, '')
  const file = join(output, folder, 'checks.json')
  if (!existsSync(file)) return { scenario, passed: false, faults: ['It broke off without a check.'] }
  const checks = JSON.parse(readFileSync(file, 'utf8')) as Check[]
  const bad = checks.filter(({ status }) => status === 'FAILURE' || status === 'WARNING')
  return {
    scenario,
    passed: bad.length === 0 && checks.some(({ status }) => status === 'SUCCESS'),
    faults: bad.map(({ id, errorMessage }) => `${id}: ${errorMessage ?? 'no reason given'}`),
  }
}

async function startServer(name: string): Promise<{ url: string; stop: () => Promise<void> }> {
  const target = TARGETS[name]
  if (target === undefined)
    throw new Error(`No target ${name}: there are ${Object.keys(TARGETS).join(', ')}.`)
  if (target.processes === undefined) {
    const { url, stop } = await startProcess(name, target, {})
    // The DNS rebinding scenario takes "localhost" for local, and no address.
    return { url: url.replace('127.0.0.1', 'localhost'), stop }
  }
  const redis = await startRedis()
  const start = () => startProcess(name, target, { REDIS_URL: redis.url.href })
  const processes = await Promise.all(Array.from({ length: target.processes }, start))
  const proxy = await startProxy(processes.map(({ url }) => new URL(url)))
  return {
    url: proxy.url.href.replace('127.0.0.1', 'localhost'),
    stop: async () => {
      await proxy.stop()
      await Promise.all(processes.map(({ stop }) => stop()))
      await redis.stop()
    },
  }
}

async function startProcess(
  name: string,
  { entry = 'server.ts', preview = name, cwd = '.' }: Target,
  env: { readonly [name: string]: string },
): Promise<{ url: string; stop: () => Promise<void> }> {
  const out = mkdtempSync(join(tmpdir(), 'conformance-build-'))
  const args = [resolve(ROOT, 'examples/everything', entry), '--target', preview, '--port', '0', '--out', out]
  const child = spawn(process.execPath, [join(ROOT, 'deploy/cli.ts'), 'preview', ...args], {
    cwd: join(ROOT, cwd),
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const stop = async (): Promise<void> => {
    await end(child)
    rmSync(out, { recursive: true, force: true })
  }
  return { url: await readyUrl(child), stop }
}

function readyUrl(child: ChildProcess): Promise<string> {
  return new Promise((done, fail) => {
    createInterface({ input: child.stdout! }).once('line', (line) =>
      line.startsWith('ready ')
        ? done(line.slice('ready '.length))
        : fail(new Error(`Not a ready line: ${line}`)),
    )
    child.once('exit', (code) => fail(new Error(`mayfly preview ended with ${code} before it was ready.`)))
  })
}

async function assertAlive(url: string): Promise<void> {
  const { status } = await fetch(url.replace(/mcp$/, 'healthz'))
  if (status !== 200) throw new Error(`The server answered ${status} after the suite.`)
}
