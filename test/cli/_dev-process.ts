/** Runs the real `mayfly dev` and shows what it prints and which processes it starts. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const CLI = fileURLToPath(new URL('../../deploy/cli.ts', import.meta.url))
const WAIT_MS = 60_000

export interface Output {
  code: number | null
  stdout: string
  stderr: string
}

/** A folder of the user's, removed with `await using`. */
export class Project implements AsyncDisposable {
  readonly folder: string = mkdtempSync(join(tmpdir(), 'mayfly-test-'))

  write(path: string, text: string | Uint8Array): void {
    writeFileSync(join(this.folder, path), text)
  }

  /** The package is that of this checkout. */
  linkPackage(): void {
    mkdirSync(join(this.folder, 'node_modules'))
    symlinkSync(ROOT, join(this.folder, 'node_modules/mayfly-mcp'))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // A process that has just been killed may still be writing.
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

const live = new Set<MayflyProcess>()

/** For `afterAll`: a test that times out disposes of nothing. */
export async function stopAll(): Promise<void> {
  await Promise.all([...live].map((mayfly) => mayfly.signal('SIGTERM')))
}

export class MayflyProcess implements AsyncDisposable {
  readonly child: ChildProcess
  readonly exited: Promise<Output>
  stdout = ''
  #stderr = ''

  constructor(args: string[], cwd: string, cli: string = CLI, env: NodeJS.ProcessEnv = {}) {
    this.child = spawn(process.execPath, [cli, ...args], {
      cwd,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text
    })
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text
    })
    live.add(this)
    this.exited = once(this.child, 'close').then(([code]) => {
      live.delete(this)
      return { code: code as number | null, stdout: this.stdout, stderr: this.#stderr }
    })
  }

  /** Resolves when stdout has a whole line; throws with stderr when the process ends before. */
  async ready(): Promise<void> {
    let ended = false
    void this.exited.then(() => {
      ended = true
    })
    await until(() => ended || this.stdout.includes('\n'))
    if (!this.stdout.includes('\n')) throw new Error(`ended before it was ready:\n${this.#stderr}`)
  }

  /**
   * Resolves with all of stderr when the words are in it. The two streams arrive in no order, so that only this, and what has exited,
   * tells what is on it.
   */
  async says(words: string | RegExp): Promise<string> {
    const wanted =
      typeof words === 'string' ? (text: string) => text.includes(words) : (text: string) => words.test(text)
    let ended = false
    void this.exited.then(() => {
      ended = true
    })
    await until(() => ended || wanted(this.#stderr))
    if (!wanted(this.#stderr)) throw new Error(`ended without ${words}:\n${this.#stderr}`)
    return this.#stderr
  }

  signal(name: NodeJS.Signals): Promise<Output> {
    this.child.kill(name)
    return this.exited
  }

  /** Every process below this one, whatever its group. */
  descendants(): number[] {
    const table = processTable()
    const found = new Set([this.child.pid])
    // Parents may be listed after their children.
    for (let before = 0; before !== found.size; ) {
      before = found.size
      for (const { pid, ppid } of table) if (found.has(ppid)) found.add(pid)
    }
    found.delete(this.child.pid)
    return [...found] as number[]
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (live.has(this)) await this.signal('SIGTERM')
  }
}

/** Polls until the claim holds; throws after a minute. */
export async function until(claim: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + WAIT_MS
  while (!(await claim())) {
    if (Date.now() > deadline) throw new Error(`never came true: ${claim}`)
    await delay(20)
  }
}

/** Zombies are ended: only their parent has not asked yet. */
export function areAlive(pids: number[]): boolean {
  return processTable(pids).some(({ pid, state }) => pids.includes(pid) && !state.startsWith('Z'))
}

interface ProcessRow {
  readonly pid: number
  readonly ppid: number
  readonly state: string
}

/** All processes, or of these at least. */
function processTable(pids?: readonly number[]): readonly ProcessRow[] {
  // Tests ask every 20 ms, and `ps` takes longer than that.
  if (existsSync('/proc/self/stat')) return (pids ?? processIds()).flatMap((pid) => readProcess(pid) ?? [])
  const lines = execFileSync('ps', ['-eo', 'pid=,ppid=,stat='], { encoding: 'utf8' }).trim().split('\n')
  return lines.map((line) => {
    const [pid, ppid, state = ''] = line.trim().split(/\s+/)
    return { pid: Number(pid), ppid: Number(ppid), state }
  })
}

const processIds = (): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)

/** Undefined: there is no such process any more. */
function readProcess(pid: number): ProcessRow | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // After the name of the program, which may have any characters.
    const [state = '', ppid] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { pid, ppid: Number(ppid), state }
  } catch {
    return undefined
  }
}
