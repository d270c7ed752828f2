/**
 * Node, and what runs its modules: MCP servers as processes, for `MCPClient`. Each is the leader of a process group (POSIX), so that
 * what it starts ends with it. On Windows, which has no such groups, the official transport is used.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { deserializeMessage, type JSONRPCMessage, type Transport } from '@modelcontextprotocol/client'
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { ByteBuffer } from '../src/client/byte-buffer.ts'

export interface StdioTransportOptions {
  command: string
  args?: readonly string[]
  /** Beside a few that every process needs, such as `PATH`; nothing else of this process's environment is passed on. */
  env?: { readonly [name: string]: string }
  cwd?: string
  /** Where the process's error output goes. Default `inherit`. */
  stderr?: 'inherit' | 'ignore'
  /** The most bytes of a line, which is a message. Default 8 388 608. A longer one ends the process. */
  maxLineBytes?: number
  /** What a longer line is reported as. */
  tooLarge?: () => Error
}

/** How long a process may take to end by itself, then when asked, then when made to. */
const GRACE_MS = 2000
const POLL_MS = 20
/** How long the output of a process that has ended may stay open: what it has started may hold it. */
const OUTPUT_MS = 500
const NEWLINE = 10

/** For `new MCPClient({ servers: { files: { transport: () => createStdioTransport({ command }) } } })` in a bundled program. */
export function createStdioTransport(options: StdioTransportOptions): Transport {
  const { command, args = [], env = {}, cwd, stderr = 'inherit', maxLineBytes = 8 * 1024 * 1024 } = options
  if (process.platform !== 'win32') return new ProcessTransport({ ...options, maxLineBytes })
  const parameters = { command, args: [...args], env: { ...env }, stderr, maxBufferSize: maxLineBytes }
  return new StdioClientTransport({ ...parameters, ...(cwd !== undefined && { cwd }) })
}

class ProcessTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  /** By this, and `pid`, the official client knows a process. */
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
    const { command, args = [], env, cwd, stderr = 'inherit' } = this.#options
    const child = spawn(command, args, {
      env: { ...getDefaultEnvironment(), ...env },
      stdio: ['pipe', 'pipe', stderr],
      detached: true,
      ...(cwd !== undefined && { cwd }),
    })
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
      child.once('error', reject)
    })
    child.on('error', (error) => this.onerror?.(error))
    keepTrack(child.pid)
  }

  send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin
    if (stdin === null || stdin === undefined || this.#ended !== undefined)
      return Promise.reject(new Error('The process has ended.'))
    return new Promise((resolve, reject) => {
      stdin.write(`${JSON.stringify(message)}\n`, (error) => (error ? reject(error) : resolve()))
    })
  }

  /** Resolves when the process has ended, and all that it has started in its group. */
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
      // What is no JSON at all is what a tool or its loader prints.
      if (!(error instanceof SyntaxError)) this.onerror?.(error as Error)
    }
  }
}

/** Groups that run. */
const running = new Set<number>()

/** When this process ends without ending them, by `process.exit()` for one. */
const killAll = (): void => {
  for (const pid of running) signalGroup(pid, 'SIGKILL')
}

function keepTrack(pid: number | undefined): void {
  if (pid === undefined) return
  if (running.size === 0) process.on('exit', killAll)
  running.add(pid)
}

/** Waits for the process to end now that its input has, then asks the group to, then makes it. */
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
  running.delete(pid)
  if (running.size === 0) process.off('exit', killAll)
}

async function until(isSo: () => boolean, withinMs: number): Promise<void> {
  for (let waited = 0; waited < withinMs && !isSo(); waited += POLL_MS) await delay(POLL_MS)
}

/** False when there is no process in the group that a signal would reach. A negative id addresses the group (kill(2)). */
function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-pid, signal)
  } catch {
    return false
  }
}
