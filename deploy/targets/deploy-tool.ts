/** Finds and runs a platform's own CLI. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { isA, memberOf } from '../../src/definition/error-text.ts'
import { createTempFolder } from '../build/work-folder.ts'
import { type Deployment, type DeployStep, type Finding, SECRET_FILE } from '../contract/target.ts'
import { findProgram, resolveBin } from '../project/project-tool.ts'
import { atExit, type Interruption, interruptedCode, onInterrupt } from '../run/ending.ts'
import { toStart } from '../run/program.ts'
import { CliError } from '../terminal/cli-error.ts'
import { terminal } from '../terminal/terminal.ts'

/** The file to run. */
export type DeployTool = string

const LOGIN_TIMEOUT_MS = 30_000

/** A terminal sends Ctrl-C to the tool too; it has this long to end by itself. */
const CTRL_C_GRACE_MS = 2000
const STOP_GRACE_MS = 7000

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

/** Whether the environment has a token (which the tool itself checks), or the tool reports a login within 30 seconds. */
export async function isLoggedIn(
  tool: DeployTool,
  { tool: { whoami, token } }: Deployment,
  cwd: string,
): Promise<boolean> {
  if (process.env[token]) return true
  const signal = AbortSignal.timeout(LOGIN_TIMEOUT_MS)
  const { command, args, windowsVerbatimArguments } = toStart(tool, whoami)
  const child = spawn(command, args, {
    windowsVerbatimArguments,
    cwd,
    env: environment(),
    stdio: 'ignore',
    signal,
    // A tool that waits for its platform may ignore SIGTERM.
    killSignal: 'SIGKILL',
  })
  return (await codeOf(child, 'exit')) === 0
}

/** The exit code of a tool that only prints something; undefined if it could not be run, or took too long. */
async function codeOf(child: ChildProcess, end: 'exit' | 'close'): Promise<number | null | undefined> {
  const forget = atExit(() => void child.kill('SIGKILL'))
  try {
    const [code] = (await once(child, end)) as [number | null]
    return code
  } catch {
    return undefined
  } finally {
    forget()
  }
}

export interface RunOptions {
  /** Where the tool's stdout goes. Default 2, since scripts read our own stdout. */
  readonly stdout?: 1 | 2
}

export interface Ran {
  readonly code: number
  /** The result that it reported (`tells`); empty for a step that reports none. */
  readonly told: string
}

/**
 * Runs it in the foreground and resolves with its exit code. Its output goes to stderr. A signal ends the tool, and then this process.
 * Throws `CliError` if the program does not exist.
 */
export async function runStep(
  given: DeployStep,
  tool: DeployTool,
  { stdout = 2 }: RunOptions = {},
): Promise<Ran> {
  const { stdinFrom, ...step } = process.platform === 'win32' ? withoutDevStdin(given) : given
  if (stdinFrom !== undefined) {
    const stdin = stdinFrom.make(await lookUp(stdinFrom.lookUp, tool))
    return runStep({ ...step, stdin }, tool, { stdout })
  }
  const { secretFile, tells } = step
  const isFileTold = typeof tells === 'object'
  if (secretFile === undefined && !isFileTold) return run(step, tool, stdout)
  const { folder, dispose } = createTempFolder()
  const path = join(folder, 'secrets.env')
  const report = join(folder, 'report')
  try {
    if (secretFile !== undefined) writeFileSync(path, secretFile, { mode: 0o600, flag: 'wx' })
    const args = step.args.map((arg) => arg.replace(SECRET_FILE, () => path))
    const env = { ...step.env, ...(isFileTold && { [tells.variable]: report }) }
    const { code, told } = await run({ ...step, args, env }, tool, stdout)
    return { code, told: isFileTold && existsSync(report) ? readFileSync(report, 'utf8') : told }
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
  output: 1 | 2,
): Promise<Ran> {
  const command = other ?? tool
  const env = { ...environment(), ...step.env }
  const stdout = tells === 'stdout' ? 'pipe' : output
  const { windowsVerbatimArguments, ...started } = toStart(command, args)
  const isPiped = stdin !== undefined && process.platform !== 'win32'
  const child: ChildProcess = !isPiped
    ? spawn(started.command, started.args, {
        windowsVerbatimArguments,
        cwd,
        env,
        stdio: [stdin === undefined ? 'inherit' : 'pipe', stdout, 'inherit'],
      })
    : spawn('sh', ['-c', THROUGH_PIPE, command, ...args], {
        cwd,
        env,
        stdio: ['pipe', stdout, 'inherit', 'pipe'],
      })
  const ending = endWith(child)
  let told = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    told += text
    terminal.pass(text)
  })
  // A tool that ends without reading its stdin prints the reason.
  child.stdin?.on('error', () => {})
  child.stdin?.end(stdin)
  try {
    const [code] = (await once(child, tells === 'stdout' ? 'close' : 'exit')) as [number | null]
    if (ending.interruption !== undefined) process.exit(interruptedCode(ending.interruption))
    return { code: code ?? 1, told }
  } catch (error) {
    throw new CliError(`cannot run ${command} (${memberOf(error, 'code')}): install it, then deploy again`)
  } finally {
    ending.forget()
  }
}

/** The stdout of a step that only looks something up; undefined if it fails. */
export async function lookUp(
  { command, args, cwd, env, stdin }: DeployStep,
  tool: DeployTool,
): Promise<string | undefined> {
  const { windowsVerbatimArguments, ...started } = toStart(command ?? tool, args)
  const child = spawn(started.command, started.args, {
    windowsVerbatimArguments,
    cwd,
    env: { ...environment(), ...env },
    stdio: [stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'inherit'],
    signal: AbortSignal.timeout(LOGIN_TIMEOUT_MS),
    killSignal: 'SIGKILL',
  })
  // A tool that ends without reading its stdin prints the reason.
  child.stdin?.on('error', () => {})
  child.stdin?.end(stdin)
  let found = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    found += text
  })
  return (await codeOf(child, 'close')) === 0 ? found.trim() : undefined
}

interface Ending {
  /** The first signal received, if any. */
  readonly interruption: Interruption | undefined
  forget(): void
}

/** Until `forget` is called, a signal to this process ends the tool; a second signal, or a long wait, kills it. */
function endWith(child: ChildProcess): Ending {
  let pid = child.pid
  child.stdio[3]?.once('data', (line: Buffer) => {
    pid = Number.parseInt(line.toString(), 10)
  })
  const kill = (signal: 'SIGTERM' | 'SIGKILL'): void => {
    try {
      if (pid !== undefined) process.kill(pid, signal)
    } catch {
      // It has ended.
    }
  }
  const timers: NodeJS.Timeout[] = []
  let interruption: Interruption | undefined
  const restore = onInterrupt((signal) => {
    if (interruption !== undefined) return kill('SIGKILL')
    interruption = signal
    const graceMs = signal === 'SIGINT' ? CTRL_C_GRACE_MS : 0
    timers.push(
      setTimeout(() => kill('SIGTERM'), graceMs),
      setTimeout(() => kill('SIGKILL'), graceMs + STOP_GRACE_MS),
    )
  })
  return {
    get interruption() {
      return interruption
    },
    forget: () => {
      restore()
      for (const timer of timers) clearTimeout(timer)
    },
  }
}

/** Puts the current Node first: npm tools find Node by name, and some need a newer one than the machine's. */
function environment(): NodeJS.ProcessEnv {
  const path = [dirname(process.execPath), process.env.PATH].filter((part) => part).join(delimiter)
  return { ...process.env, PATH: path }
}
