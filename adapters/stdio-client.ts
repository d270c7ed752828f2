/**
 * MCP servers as processes, for `MCPClient` on Node and compatible runtimes. Each is the leader of a process group (POSIX), so that its
 * child processes end with it. Windows has no process groups, so the official transport is used there.
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { deserializeMessage, type JSONRPCMessage, type Transport } from '@modelcontextprotocol/client'
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { ByteBuffer } from '../src/client/byte-buffer.ts'
import { isA, memberOf } from '../src/definition/error-text.ts'
import { type Names, requireOptions } from '../src/definition/unknown-option.ts'
import { afterDeath } from './_stdio/after-death.ts'

/** Options of `createStdioTransport`. */
export interface StdioTransportOptions {
  command: string
  args?: readonly string[]
  /** Environment variables, besides a few that every process needs, such as `PATH`. Other variables of this process are not passed on. */
  env?: { readonly [name: string]: string }
  cwd?: string
  /** What happens to the process's error output. Default `inherit`. */
  stderr?: 'inherit' | 'ignore'
  /** Maximum bytes of a line, which is one message. Default 8 388 608. A longer one ends the process. */
  maxLineBytes?: number
  /** Creates the error for a longer line. */
  tooLarge?: () => Error
}

const OPTIONS: Names<StdioTransportOptions> = {
  command: 'string',
  args: 'strings',
  env: 'object',
  cwd: 'string',
  stderr: { inherit: 1, ignore: 1 },
  maxLineBytes: [1],
  tooLarge: 'function',
}

/** Milliseconds for each step of ending a process: by itself, by SIGTERM, by SIGKILL. */
const GRACE_MS = 2000
const POLL_MS = 20
/** Milliseconds for which the output may stay open after the process has ended, since its child processes may keep it open. */
const OUTPUT_MS = 500
const NEWLINE = 10

/** Creates a transport: `new MCPClient({ servers: { files: { transport: () => createStdioTransport({ command }) } } })`. */
export function createStdioTransport(options: StdioTransportOptions): Transport {
  requireOptions('createStdioTransport', options, OPTIONS, 'command')
  const { command, args = [], env = {}, cwd, stderr = 'inherit', maxLineBytes = 8 * 1024 * 1024 } = options
  if (process.platform !== 'win32') return new ProcessTransport({ ...options, maxLineBytes })
  const parameters = { command, args: [...args], env: { ...env }, stderr, maxBufferSize: maxLineBytes }
  const transport = new StdioClientTransport({ ...parameters, ...(cwd !== undefined && { cwd }) })
  const start = transport.start.bind(transport)
  transport.start = () => start().catch((error: unknown) => Promise.reject(toStartError(command, error)))
  return transport
}

/** The platform's own error has the arguments, and may quote the environment. */
function toStartError(command: string, error: unknown): Error {
  const [name = '', ...more] = command.trim().split(/\s+/)
  const shown = name.includes('=') ? '…' : name
  const code = memberOf(error, 'code')
  const reason = code === 'ERR_INVALID_ARG_VALUE' ? 'an option has a null byte' : (code ?? 'unknown reason')
  const text = `The command "${shown}${more.length > 0 ? ' …' : ''}" cannot be started (${reason})`
  return Object.assign(new Error(text), { code })
}

class ProcessTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  /** The official client recognizes a process by this member and `pid`. */
  readonly stderr: null = null
  readonly #options: StdioTransportOptions & { readonly maxLineBytes: number }
  readonly #line = new ByteBuffer()
  #child: ChildProcess | undefined
  #ended: Promise<void> | undefined

  constructor(options: StdioTransportOptions & { readonly maxLineBytes: number }) {
    this.#options = options
  }

  get pid(): number | null {
    return this.#child?.pid ?? null
  }

  async start(): Promise<void> {
    // Otherwise the process would never end.
    if (this.#ended !== undefined) throw new Error('The transport was closed before it was started.')
    const child = this.#spawn()
    this.#child = child
    child.stdin?.on('error', (error) => this.onerror?.(error))
    child.stdout?.on('error', (error) => this.onerror?.(error))
    child.stdout?.on('data', (chunk: Buffer) => this.#read(chunk))
    child.once('exit', () => {
      void this.close()
      setTimeout(() => child.stdout?.destroy(), OUTPUT_MS)
    })
    child.once('close', () => this.onclose?.())
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve)
      child.once('error', (error) => reject(toStartError(this.#options.command, error)))
    })
    child.on('error', (error) => this.onerror?.(error))
    keepTrack(child.pid)
  }

  #spawn(): ChildProcess {
    const { command, args = [], env, cwd, stderr = 'inherit' } = this.#options
    try {
      return spawn(command, args, {
        env: { ...getDefaultEnvironment(), ...env },
        stdio: ['pipe', 'pipe', stderr],
        detached: true,
        ...(cwd !== undefined && { cwd }),
      })
    } catch (error) {
      throw toStartError(command, error)
    }
  }

  send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin
    if (stdin === null || stdin === undefined || this.#ended !== undefined)
      return Promise.reject(new Error('The process has ended.'))
    return new Promise((resolve, reject) => {
      stdin.write(`${JSON.stringify(message)}\n`, (error) => (error ? reject(error) : resolve()))
    })
  }

  /** Resolves when the process and everything in its group have ended. */
  close(): Promise<void> {
    this.#ended ??= endGroup(this.#child)
    return this.#ended
  }

  #read(chunk: Buffer): void {
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      this.#line.add(chunk.subarray(start, end))
      if (!this.#isWithinLimit()) return
      this.#receive(new TextDecoder().decode(this.#line.takeAll()))
      start = end + 1
    }
    this.#line.add(chunk.subarray(start))
    this.#isWithinLimit()
  }

  #isWithinLimit(): boolean {
    const { maxLineBytes, tooLarge = () => new Error(`A line has more than ${maxLineBytes} bytes.`) } =
      this.#options
    if (this.#line.length <= maxLineBytes) return true
    this.#line.takeAll()
    this.#child?.stdout?.destroy()
    this.onerror?.(tooLarge())
    void this.close()
    return false
  }

  #receive(line: string): void {
    try {
      this.onmessage?.(deserializeMessage(line))
    } catch (error) {
      // Ignores text that is not JSON, which a tool or its loader printed.
      if (!isA(error, SyntaxError)) this.onerror?.(error as Error)
    }
  }
}

/** Ends a group whose input is closed, like `endGroup`; `$1` is the group. */
const END_GROUP = `sleep 2; kill -s TERM -- "-$1" || exit; sleep 2; kill -s KILL -- "-$1"`

/** Running process groups, each with a function that cancels its cleanup after this process. */
const running = new Map<number, () => void>()

/** In case this process ends without closing its transports, for example by `process.exit()`. */
const killAll = (): void => {
  for (const pid of running.keys()) signalGroup(pid, 'SIGKILL')
}

function keepTrack(pid: number | undefined): void {
  if (pid === undefined) return
  if (running.size === 0) process.on('exit', killAll)
  // Listeners are not called if a signal ends this process, and Ctrl-C does not reach other groups.
  running.set(pid, afterDeath(END_GROUP, [String(pid)]))
}

/** After its input was closed: waits for the process to end, then sends SIGTERM to the group, then SIGKILL. */
async function endGroup(child: ChildProcess | undefined): Promise<void> {
  const pid = child?.pid
  if (child === undefined || pid === undefined) return
  child.stdin?.end()
  const hasExited = (): boolean => child.exitCode !== null || child.signalCode !== null
  await until(hasExited, GRACE_MS)
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    if (!signalGroup(pid, signal)) break
    await until(() => !signalGroup(pid, 0), GRACE_MS)
  }
  running.get(pid)?.()
  running.delete(pid)
  if (running.size === 0) process.off('exit', killAll)
}

async function until(isSo: () => boolean, withinMs: number): Promise<void> {
  for (let waited = 0; waited < withinMs && !isSo(); waited += POLL_MS) await delay(POLL_MS)
}

/** False if the group has no process that a signal would reach. A negative id addresses the group (kill(2)). */
function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-pid, signal)
  } catch {
    return false
  }
}
