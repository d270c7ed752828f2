/** Secrets on their way to tools that cannot be had here (AWS's) or are downloaded at their first use (`deno deploy`): stand-ins take them. */
import { chmodSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { MayflyProcess, Project, stopAll } from './_dev-process.ts'

afterAll(stopAll)

const VALUES = {
  API_KEY: 'sk-$HOME-`id`-"quoted"-#x-q7x1f7c2a9',
  PRIVATE_KEY: '-----BEGIN KEY-----\nMIIBq7x1f7c2a9\n-----END KEY-----',
  FLAG_LIKE: '--prod=$(id)-q7x1f7c2a9',
}
const MARK = 'q7x1f7c2a9'

interface Call {
  readonly tool: string
  readonly args: readonly string[]
  readonly input: string
  readonly env: string
}

/** What the AWS CLI tells of the stack that keeps the secrets. */
const STORE = '["CREATE_COMPLETE", 1]'

/** A program that writes down how it was called. It prints `stored` when it is asked for a secret's value. */
function writeTool(project: Project, path: string, tool: string, stored = '', stack = STORE): void {
  project.write(
    path,
    `#!${process.execPath}
const { appendFileSync, readFileSync } = require('node:fs')
const args = process.argv.slice(2)
const takes = args.some((arg) => arg.includes('/dev/stdin'))
const input = takes ? readFileSync('/dev/stdin', 'utf8') : ''
const call = { tool: ${JSON.stringify(tool)}, args, input, env: JSON.stringify(process.env) }
appendFileSync(${JSON.stringify(join(project.folder, 'calls.jsonl'))}, JSON.stringify(call) + '\\n')
if (args.includes('describe-stacks') && args.some((arg) => arg.endsWith('-secrets'))) console.log(${JSON.stringify(stack)})
else if (args.includes('describe-stacks') || args.includes('deploy')) console.log('https://shop.acme.deno.net')
if (args.includes('get-secret-value')) console.log(${JSON.stringify(stored)})
`,
  )
  chmodSync(join(project.folder, path), 0o755)
}

async function deploy(project: Project, target: string): Promise<{ output: string; calls: Call[] }> {
  project.write('server.ts', `export default { fetch: () => new Response('hello') }`)
  const lines = Object.entries(VALUES).map(([name, value]) => `${name}='${value}'\n`)
  project.write('.env', lines.join(''))
  const named = Object.keys(VALUES).flatMap((name) => ['--secret', name])
  const env = { PATH: `${join(project.folder, 'bin')}:${process.env.PATH}` }
  const mayfly = new MayflyProcess(
    ['deploy', '--target', target, '--yes', '--no-check', ...named],
    project.folder,
    undefined,
    env,
  )
  const { code, stdout, stderr } = await mayfly.exited
  expect(code, stderr).toBe(0)
  const calls = join(project.folder, 'calls.jsonl')
  expect(existsSync(calls)).toBe(true)
  const texts = readFileSync(calls, 'utf8').trim().split('\n')
  return { output: stdout + stderr, calls: texts.map((line) => JSON.parse(line) as Call) }
}

function expectNowhereElse(output: string, calls: readonly Call[]): void {
  expect(output).not.toContain(MARK)
  for (const { args, env } of calls) expect(args.join(' ') + env).not.toContain(MARK)
  expect(calls.filter(({ input }) => input.includes(MARK))).toHaveLength(1)
}

test('lambda: hostile values arrive on stdin as one JSON object, and nowhere else', async () => {
  await using project = new Project()
  mkdirSync(join(project.folder, 'bin'))
  // As the AWS CLI prints it: the text of the secret as JSON.
  const stored = { OTHER: 'stays-0v3r', API_KEY: 'old-0v3r' }
  for (const tool of ['aws', 'sam'])
    writeTool(project, `bin/${tool}`, tool, JSON.stringify(JSON.stringify(stored)))

  const { output, calls } = await deploy(project, 'lambda')

  expectNowhereElse(output, calls)
  expect(output).not.toContain('0v3r')
  const { input } = calls.find((call) => call.args.includes('put-secret-value'))!
  const { SecretString } = JSON.parse(input) as { SecretString: string }
  expect(JSON.parse(SecretString)).toEqual({ ...VALUES, OTHER: 'stays-0v3r' })
})

test.each([
  ['nothing', ''],
  ['another text', JSON.stringify('hush-0v3r')],
  ['a list', JSON.stringify('["hush-0v3r"]')],
  ['too much', JSON.stringify(JSON.stringify({ OLD: 'x'.repeat(4096) }))],
])('lambda: a store that holds %s → one line, and nothing is stored or uploaded', async (_kind, stored) => {
  await using project = new Project()
  project.write('server.ts', `export default { fetch: () => new Response('hello') }`)
  project.write('.env', "API_KEY='abcdefghij'\n")
  mkdirSync(join(project.folder, 'bin'))
  for (const tool of ['aws', 'sam']) writeTool(project, `bin/${tool}`, tool, stored)
  const env = { PATH: `${join(project.folder, 'bin')}:${process.env.PATH}` }
  const args = ['deploy', '--target', 'lambda', '--secret', 'API_KEY']
  const { code, stdout, stderr } = await new MayflyProcess(args, project.folder, undefined, env).exited
  expect(code).toBe(1)
  expect(stderr).toMatch(
    /^mayfly: (?:\S+-secrets cannot be read as a JSON object|these secrets are too large \(OLD, API_KEY\))[^\n]+$/m,
  )
  expect(stdout + stderr).not.toContain('0v3r')
  const calls = readFileSync(join(project.folder, 'calls.jsonl'), 'utf8')
  expect(calls).not.toContain('put-secret-value')
  expect(calls).not.toContain('"tool":"sam"')
})

test.each([
  ['another project’s server', '["UPDATE_COMPLETE", 0]', false],
  ['not told', 'denied', false],
  ['a store', STORE, true],
  ['left by a change set that failed', '["REVIEW_IN_PROGRESS", 0]', true],
])('lambda: the stack of the secrets is %s → it is deployed: %j', async (_kind, stack, isDeployed) => {
  await using project = new Project()
  project.write('server.ts', `export default { fetch: () => new Response('hello') }`)
  project.write('package.json', '{ "name": "shop" }')
  project.write('.env', "API_KEY='abcdefghij'\n")
  mkdirSync(join(project.folder, 'bin'))
  for (const tool of ['aws', 'sam']) writeTool(project, `bin/${tool}`, tool, '"{}"', stack)
  const env = { PATH: `${join(project.folder, 'bin')}:${process.env.PATH}` }
  const args = ['deploy', '--target', 'lambda', '--secret', 'API_KEY', '--yes', '--no-check']
  const { code, stderr } = await new MayflyProcess(args, project.folder, undefined, env).exited
  const calls = readFileSync(join(project.folder, 'calls.jsonl'), 'utf8')
  expect(code, stderr).toBe(isDeployed ? 0 : 1)
  for (const change of ['"cloudformation","deploy"', 'put-secret-value', '"tool":"sam"'])
    expect(calls.includes(change), change).toBe(isDeployed)
  if (!isDeployed) expect(stderr).toMatch(/the stack shop-secrets [^\n]*left alone: [^\n]+\n$/)
})

test('deno: hostile values arrive on stdin as a .env file, and nowhere else', async () => {
  await using project = new Project()
  mkdirSync(join(project.folder, 'node_modules/deno'), { recursive: true })
  project.write('node_modules/deno/package.json', '{ "name": "deno", "bin": "cli.cjs" }')
  writeTool(project, 'node_modules/deno/cli.cjs', 'deno')

  const { output, calls } = await deploy(project, 'deno')

  expectNowhereElse(output, calls)
  expect(parseEnv(calls.find(({ args }) => args.includes('load'))!.input)).toEqual(VALUES)
})
