/** A newcomer at a terminal: an empty home, an empty folder, npm, and one version of Node. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { findProgram } from '../../deploy/project/project-tool.ts'

export interface Result {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface Running {
  /** What it has printed so far, on both. */
  output(): string
  readonly stdout: string
  readonly exited: Promise<Result>
  /** As Ctrl-C or a process manager would, to the shell's own child. */
  stop(): Promise<Result>
}

export interface Newcomer extends Disposable {
  /** Where the next command runs. */
  cwd: string
  run(command: string): Promise<Result>
  start(command: string): Running
}

/** Longer than any of the commands, on a busy machine. */
const COMMAND_TIMEOUT_MS = 120_000

export function createNewcomer(node: string, registry: string, cache: string): Newcomer {
  const home = mkdtempSync(join(tmpdir(), 'mayfly-newcomer-'))
  const bin = join(home, 'bin')
  mkdirSync(bin)
  mkdirSync(join(home, 'work'))
  const env = environment(node, home, registry, cache)
  const newcomer: Newcomer = {
    cwd: join(home, 'work'),
    start: (command) => start(command, newcomer.cwd, env),
    run: async (command) => {
      const running = start(command, newcomer.cwd, env)
      const timer = setTimeout(() => void running.stop(), COMMAND_TIMEOUT_MS)
      try {
        return await running.exited
      } finally {
        clearTimeout(timer)
      }
    },
    [Symbol.dispose]: () => rmSync(home, { recursive: true, force: true, maxRetries: 5 }),
  }
  return newcomer
}

/** Of the variables of this machine only those that name its programs; no proxy leads out. */
function environment(node: string, home: string, registry: string, cache: string): NodeJS.ProcessEnv {
  const system = (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => !folder.includes('node_modules'))
  const npm = dirname(findProgram('npm') ?? '/usr/bin/npm')
  return {
    PATH: [dirname(node), ...system, npm].join(delimiter),
    HOME: home,
    LANG: 'C.UTF-8',
    NO_COLOR: '1',
    HTTPS_PROXY: 'http://127.0.0.1:9',
    NO_PROXY: '127.0.0.1,localhost',
    npm_config_registry: registry,
    npm_config_cache: cache,
    npm_config_audit: 'false',
    npm_config_fund: 'false',
    npm_config_update_notifier: 'false',
    WRANGLER_SEND_METRICS: 'false',
  }
}

function start(command: string, cwd: string, env: NodeJS.ProcessEnv): Running {
  const child = spawn('sh', ['-c', command], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  const said = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      said[name] += text
    })
  }
  const exited = once(child, 'close').then(([code]) => ({ code: code as number | null, ...said }))
  return {
    exited,
    get stdout() {
      return said.stdout
    },
    output: () => said.stdout + said.stderr,
    stop: async () => {
      end(child)
      return exited
    },
  }
}

/** As Ctrl-C does: all processes of the terminal's group. */
function end({ pid, exitCode }: ChildProcess): void {
  if (pid === undefined || exitCode !== null) return
  try {
    process.kill(-pid, 'SIGINT')
  } catch {
    // It has just ended.
  }
}
