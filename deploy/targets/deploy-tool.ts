/** Finds and runs a platform's own CLI. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { isA, memberOf } from '../../src/definition/error-text.ts'
import { createTempFolder } from '../build/work-folder.ts'
import type { LookedUp } from '../contract/step.ts'
import { type Deployment, type DeployStep, type Finding, SECRET_FILE } from '../contract/target.ts'
import { findProgram, resolveBin } from '../project/project-tool.ts'
import { atExit, type Interruption, interruptedCode, onInterrupt } from '../run/ending.ts'
import { toStart } from '../run/program.ts'
import { CliError } from '../terminal/cli-error.ts'
import { withProgress } from '../terminal/progress.ts'
import { terminal } from '../terminal/terminal.ts'
import { createRedactor, errorIn, redact } from './tool-output.ts'

/** The file to run. */
export type DeployTool = string

const LOGIN_TIMEOUT_MS = 30_000

/** A terminal sends Ctrl-C to the tool too; it has this long to end by itself. */
const CTRL_C_GRACE_MS = 2000
const STOP_GRACE_MS = 7000

/** After a tool has ended, its last output arrives within this time. */
const LAST_OUTPUT_MS = 1000

/** Of a tool's output, the end is kept: it has the result and the error. */
const MAX_TOLD_CHARACTERS = 4_000_000

/**
 * Node's own pipe is a socket, which a tool that opens /dev/stdin as a file cannot read: cat makes it a pipe. The shells do not forward
 * signals, so the tool's process id is reported.
 */
const THROUGH_PIPE = `cat 3>&- | sh -c 'echo $$ >&3; exec 3>&-; exec "$0" "$@"' "$0" "$@"`

const DEV_STDIN = '/dev/stdin'

/** The project's tool, otherwise the one on the PATH, otherwise undefined. */
export function findTool({ name, npm }: Deployment['tool'], cwd: string): DeployTool | undefined {
  if (npm !== undefined) {
    try {
      return resolveBin(npm, cwd, name)
    } catch (error) {
      if (!isA(error, CliError)) throw error
    }
  }
  return findProgram(name)
}

/** For `mayfly doctor`: deployments need the tool. */
export function toolFinding(tool: Deployment['tool'], cwd: string): Finding {
  return findTool(tool, cwd) === undefined
    ? { level: 'warning', message: `${tool.name} is not installed, but deploy needs it: run ${tool.install}` }
    : { level: 'ok', message: `${tool.name} is installed` }
}

/**
 * Throws `CliError` unless the environment has a token (which the tool itself checks), or the tool reports a login. A tool that does not
 * answer says nothing about the login.
 */
export async function requireLogin(
  tool: DeployTool,
  { tool: { name, login, whoami, token } }: Pick<Deployment, 'tool'>,
  cwd: string,
  limitMs: number = LOGIN_TIMEOUT_MS,
): Promise<void> {
  if (process.env[token]) return
  const withinMs = Math.min(limitMs, LOGIN_TIMEOUT_MS)
  const { isHung, code } = await ask({ title: 'ask who is logged in', args: whoami, cwd }, tool, { withinMs })
  if (isHung)
    throw new CliError(
      `${name} did not answer within ${seconds(withinMs)} whether you are logged in: run ${name} ${whoami.join(' ')} to see what it waits for, or set ${token}`,
    )
  if (code !== 0) throw new CliError(`you are not logged in to ${name}: run ${login}, or set ${token}`)
}

interface Asked extends LookedUp {
  readonly stdout: string
  readonly stderr: string
  readonly isHung: boolean
}

interface AskOptions {
  readonly withinMs?: number
}

/** The answer of a tool that only looks something up. Shows none of it. */
export function ask(step: DeployStep, tool: DeployTool, options: AskOptions = {}): Promise<Asked> {
  return withProgress((show) => {
    show(step.title)
    return askTool(step, tool, options)
  })
}

async function askTool(
  { command, args, cwd, env, stdin }: DeployStep,
  tool: DeployTool,
  { withinMs = LOGIN_TIMEOUT_MS }: AskOptions,
): Promise<Asked> {
  const { windowsVerbatimArguments, ...started } = toStart(command ?? tool, args)
  const child = spawn(started.command, started.args, {
    windowsVerbatimArguments,
    cwd,
    env: { ...environment(), ...env },
    stdio: [stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    detached: hasGroups(),
  })
  // A tool that ends without reading its stdin prints the reason.
  child.stdin?.on('error', () => {})
  child.stdin?.end(stdin)
  const texts = { stdout: '', stderr: '' }
  for (const stream of ['stdout', 'stderr'] as const)
    child[stream]?.setEncoding('utf8').on('data', (text: string) => {
      texts[stream] = (texts[stream] + text).slice(-MAX_TOLD_CHARACTERS)
    })
  const kill = (): void => void (endGroup(child, 'SIGKILL') || child.kill('SIGKILL'))
  const forget = atExit(kill)
  let isHung = false
  const timer = setTimeout(() => {
    isHung = true
    // A tool that waits for its platform may ignore SIGTERM.
    kill()
  }, withinMs)
  try {
    const code = await ended(child)
    return { ...texts, output: texts.stdout + texts.stderr, code: code ?? 1, isHung }
  } catch {
    return { ...texts, output: '', code: 127, isHung }
  } finally {
    clearTimeout(timer)
    forget()
  }
}

export interface RunOptions {
  /** Where the tool's stdout goes. Default 2, since scripts read our own stdout. With 1, its output is not touched. */
  readonly stdout?: 1 | 2
  /** Values that are not shown, however the tool prints them. */
  readonly hidden?: readonly string[]
  /** After this time the tool is ended. Default: never. */
  readonly withinMs?: number
}

export interface Ran {
  readonly code: number
  /** The result that it reported (`tells`); empty for a step that reports none. */
  readonly told: string
  /** The first line of its output that is an error, without secrets. */
  readonly complaint?: string | undefined
  /** Whether it was ended because it took too long. */
  readonly isHung?: boolean
}

/**
 * Runs it in the foreground and resolves with its exit code. Its output goes to stderr. A signal ends the tool, and then this process.
 * Throws `CliError` if the program does not exist.
 */
export async function runStep(given: DeployStep, tool: DeployTool, options: RunOptions = {}): Promise<Ran> {
  const { stdinFrom, guard, ...step } = process.platform === 'win32' ? withoutDevStdin(given) : given
  if (guard !== undefined) {
    const answers: LookedUp[] = []
    for (const asked of guard.lookUps) answers.push(await ask(asked, tool))
    guard.refuse(answers)
  }
  if (stdinFrom !== undefined) {
    const stdin = stdinFrom.make(await lookUp(stdinFrom.lookUp, tool, options.hidden))
    return runStep({ ...step, stdin }, tool, options)
  }
  const { secretFile, tells } = step
  const isFileTold = typeof tells === 'object'
  if (secretFile === undefined && !isFileTold) return run(step, tool, options)
  const { folder, dispose } = createTempFolder()
  const path = join(folder, 'secrets.env')
  const report = join(folder, 'report')
  try {
    if (secretFile !== undefined) writeFileSync(path, secretFile, { mode: 0o600, flag: 'wx' })
    const args = step.args.map((arg) => arg.replace(SECRET_FILE, () => path))
    const env = { ...step.env, ...(isFileTold && { [tells.variable]: report }) }
    const ran = await run({ ...step, args, env }, tool, options)
    return isFileTold && existsSync(report) ? { ...ran, told: readFileSync(report, 'utf8') } : ran
  } finally {
    dispose()
  }
}

/** Windows has no such file: the tool reads a file of this user alone. */
function withoutDevStdin({ stdin, ...step }: DeployStep): DeployStep {
  if (stdin === undefined || !step.args.some((arg) => arg.includes(DEV_STDIN)))
    return stdin === undefined ? step : { ...step, stdin }
  const args = step.args.map((arg) => arg.replace(DEV_STDIN, SECRET_FILE))
  return { ...step, args, secretFile: stdin }
}

async function run(
  { command: other, args, cwd, stdin, tells, ...step }: DeployStep,
  tool: DeployTool,
  { stdout = 2, hidden = [], withinMs }: RunOptions,
): Promise<Ran> {
  const command = other ?? tool
  const env = { ...environment(), ...step.env }
  const { windowsVerbatimArguments, ...started } = toStart(command, args)
  const isPiped = stdin !== undefined && process.platform !== 'win32'
  const isOwnOutput = stdout === 1
  const output = isOwnOutput ? ([1, 'inherit'] as const) : (['pipe', 'pipe'] as const)
  // A question that nobody can answer would wait forever.
  const input = process.stdin.isTTY || isOwnOutput ? 'inherit' : 'ignore'
  // A group of its own ends with everything that it started; on a terminal it would not get Ctrl-C and could not ask.
  const detached = input === 'ignore' && hasGroups()
  const child: ChildProcess = !isPiped
    ? spawn(started.command, started.args, {
        windowsVerbatimArguments,
        cwd,
        env,
        detached,
        stdio: [stdin === undefined ? input : 'pipe', ...output],
      })
    : spawn('sh', ['-c', THROUGH_PIPE, command, ...args], {
        cwd,
        env,
        detached,
        stdio: ['pipe', ...output, 'pipe'],
      })
  const ending = endWith(child, detached)
  const printed = isOwnOutput ? undefined : showOutput(child, hidden)
  // A tool that ends without reading its stdin prints the reason.
  child.stdin?.on('error', () => {})
  child.stdin?.end(stdin)
  const timer = withinMs === undefined ? undefined : setTimeout(ending.end, withinMs)
  try {
    const code = await ended(child)
    if (ending.interruption !== undefined) process.exit(interruptedCode(ending.interruption))
    const { told = '', complaint } = printed?.finish() ?? {}
    return { code: code ?? 1, told: tells === 'stdout' ? told : '', complaint, isHung: ending.isOver }
  } catch (error) {
    throw new CliError(`cannot run ${command} (${memberOf(error, 'code')}): install it, then deploy again`)
  } finally {
    clearTimeout(timer)
    ending.forget()
  }
}

interface Printed {
  /** Ends the output with a line end. */
  finish(): { readonly told: string; readonly complaint: string | undefined }
}

/** Shows both streams on stderr, without the hidden values. */
function showOutput(child: ChildProcess, hidden: readonly string[]): Printed {
  let told = ''
  let shown = ''
  const show = (text: string): void => {
    if (text === '') return
    shown = (shown + text).slice(-MAX_TOLD_CHARACTERS)
    terminal.pass(text)
  }
  const redactors = [child.stdout, child.stderr].map((stream, at) => {
    const redactor = createRedactor(hidden)
    stream?.setEncoding('utf8').on('data', (text: string) => {
      if (at === 0) told = (told + text).slice(-MAX_TOLD_CHARACTERS)
      show(redactor.push(text))
    })
    return redactor
  })
  return {
    finish: () => {
      for (const redactor of redactors) show(redactor.end())
      if (shown !== '' && !shown.endsWith('\n')) show('\n')
      return { told, complaint: errorIn(shown) }
    },
  }
}

/** The exit code, once all output is read. A process that the tool left behind may hold its pipes open: they are not waited for. */
async function ended(child: ChildProcess): Promise<number | null> {
  const closed = once(child, 'close').catch(() => [])
  const [code] = (await once(child, 'exit')) as [number | null]
  await Promise.race([closed, delay(LAST_OUTPUT_MS, undefined, { ref: false })])
  for (const stream of [child.stdout, child.stderr]) stream?.destroy()
  return code
}

/** The stdout of a step that only looks something up; undefined if it fails. Shows its stderr without the hidden values. */
export async function lookUp(
  step: DeployStep,
  tool: DeployTool,
  hidden: readonly string[] = [],
): Promise<string | undefined> {
  const { code, stdout, stderr } = await ask(step, tool)
  const shown = redact(stderr, hidden)
  terminal.pass(shown === '' || shown.endsWith('\n') ? shown : `${shown}\n`)
  return code === 0 ? stdout.trim() : undefined
}

interface Ending {
  /** The first signal received, if any. */
  readonly interruption: Interruption | undefined
  /** Whether `end` was called. */
  readonly isOver: boolean
  /** Ends the tool, and kills it soon after. */
  end(): void
  forget(): void
}

/** Until `forget` is called, a signal to this process ends the tool; a second signal, or a long wait, kills it. */
function endWith(child: ChildProcess, isGroup: boolean): Ending {
  let pid = child.pid
  child.stdio[3]?.once('data', (line: Buffer) => {
    pid = Number.parseInt(line.toString(), 10)
  })
  const kill = (signal: 'SIGTERM' | 'SIGKILL'): void => {
    if (isGroup && endGroup(child, signal)) return
    try {
      if (pid !== undefined) process.kill(pid, signal)
    } catch {
      // It has ended.
    }
  }
  const timers: NodeJS.Timeout[] = []
  const endAfter = (graceMs: number): void =>
    void timers.push(
      setTimeout(() => kill('SIGTERM'), graceMs),
      setTimeout(() => kill('SIGKILL'), graceMs + STOP_GRACE_MS),
    )
  let interruption: Interruption | undefined
  let isOver = false
  const restore = onInterrupt((signal) => {
    if (interruption !== undefined) return kill('SIGKILL')
    interruption = signal
    endAfter(signal === 'SIGINT' && !isGroup ? CTRL_C_GRACE_MS : 0)
  })
  return {
    get interruption() {
      return interruption
    },
    get isOver() {
      return isOver
    },
    end: () => {
      isOver = true
      endAfter(0)
    },
    forget: () => {
      restore()
      for (const timer of timers) clearTimeout(timer)
    },
  }
}

/** Windows has none. */
const hasGroups = (): boolean => process.platform !== 'win32'

/** Signals a tool and everything that it started. False if there is no such group. */
function endGroup(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): boolean {
  try {
    return child.pid !== undefined && process.kill(-child.pid, signal)
  } catch {
    return false
  }
}

function seconds(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`
}

/** Puts the current Node first: npm tools find Node by name, and some need a newer one than the machine's. */
function environment(): NodeJS.ProcessEnv {
  const path = [dirname(process.execPath), process.env.PATH].filter((part) => part).join(delimiter)
  return { ...process.env, PATH: path }
}
