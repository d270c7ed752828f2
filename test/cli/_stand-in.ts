/** Programs in the place of the platforms' tools, which write down how they are called. */
import { chmodSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { MayflyProcess, type Project } from './_dev-process.ts'

export interface Call {
  readonly tool: string
  readonly args: readonly string[]
  /** What arrived on stdin or in the file of `--env-file`. */
  readonly input: string
  readonly env: { readonly [name: string]: string }
}

/** What it prints, and its exit code (default 0), if its arguments contain the pattern. */
export type Answer = readonly [pattern: string, answer: string, code?: number]

/** `path`: a program's, such as `bin/aws`, or of an npm package: `node_modules/wrangler/cli.cjs`. */
function writeStandIn(project: Project, path: string, tool: string, answers: readonly Answer[]): void {
  mkdirSync(join(project.folder, dirname(path)), { recursive: true })
  project.write(
    path,
    `#!${process.execPath}
const { appendFileSync, readFileSync } = require('node:fs')
const args = process.argv.slice(2)
const at = args.findIndex((arg) => arg === '--env-file')
const file = at >= 0 ? args[at + 1] : args.some((arg) => arg.includes('/dev/stdin')) ? '/dev/stdin' : undefined
const takes = file ?? (/^(env add|secret bulk)/.test(args.join(' ')) ? 0 : undefined)
const input = takes === undefined ? '' : readFileSync(takes, 'utf8')
const call = { tool: ${JSON.stringify(tool)}, args, input, env: process.env }
appendFileSync(${JSON.stringify(join(project.folder, 'calls.jsonl'))}, JSON.stringify(call) + '\\n')
const line = args.join(' ')
const [, answer, code = 0] = ${JSON.stringify(answers)}.find(([pattern]) => line.includes(pattern)) ?? []
if (answer !== undefined) console.log(answer)
process.exitCode = code
`,
  )
  chmodSync(join(project.folder, path), 0o755)
  if (path.startsWith('node_modules/'))
    project.write(join(dirname(path), 'package.json'), `{ "name": "x", "bin": { "${tool}": "cli.cjs" } }`)
}

/** A platform's tools. */
export interface StandIns {
  /** Names by path. */
  readonly tools: { readonly [path: string]: string }
  /** The variable that replaces a login. */
  readonly token: string
  readonly env?: { readonly [name: string]: string }
}

export interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
  /** Of this run and of those before it in the project. */
  readonly calls: readonly Call[]
}

/** Runs `mayfly` with stand-ins that a login is not asked of. */
export async function runWithStandIns(
  project: Project,
  words: readonly string[],
  { tools, token, env }: StandIns,
  answers: readonly Answer[],
): Promise<Ran> {
  for (const [path, tool] of Object.entries(tools)) writeStandIn(project, path, tool, answers)
  const variables = {
    PATH: `${join(project.folder, 'bin')}:${process.env.PATH}`,
    [token]: 'token',
    ...env,
  }
  const mayfly = new MayflyProcess([...words], project.folder, undefined, variables)
  const { code, stdout, stderr } = await mayfly.exited
  return { code, stdout, stderr, calls: callsIn(project) }
}

function callsIn(project: Project): readonly Call[] {
  const log = join(project.folder, 'calls.jsonl')
  const lines = existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : []
  return lines.map((line) => JSON.parse(line) as Call)
}
