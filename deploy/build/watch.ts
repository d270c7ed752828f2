/** Watches a server's files: the entry and its imports. */

import { spawnSync } from 'node:child_process'
import type { Plugin } from 'esbuild'
import { isA } from '../../src/definition/error-text.ts'
import { afterDeath } from '../run/ending.ts'
import { CliError } from '../terminal/cli-error.ts'
import { terminal } from '../terminal/terminal.ts'
import { buildErrors, installedPackages, loadEsbuild } from './bundler.ts'

export interface WatchOptions {
  /** Called after an error was reported, also one of `onChange`. */
  readonly onReported?: () => void
  /** Calls `onChange` also if the files cannot be built here, since something else builds them. Default false. */
  readonly isBuiltElsewhere?: boolean
}

export interface EntryWatch {
  /** As if a file had changed. */
  changed(): void
  dispose(): Promise<void>
}

/**
 * Calls `onChange` after each change, one call at a time. If another change happens during a call, aborts `outdated` and calls again.
 * Reports build errors and thrown errors on stderr, and waits for the next change.
 */
export async function watchEntry(
  entry: string,
  cwd: string,
  onChange: (outdated: AbortSignal) => Promise<void>,
  { onReported, isBuiltElsewhere = false }: WatchOptions = {},
): Promise<EntryWatch> {
  const report = (error: unknown): void => {
    if (!isA(error, CliError)) throw error
    terminal.fail(error)
    onReported?.()
  }
  const esbuild = await loadEsbuild(cwd)
  let running: Promise<void> | undefined
  let isStale = false
  let isDisposed = false
  let outdated = new AbortController()
  const run = async (): Promise<void> => {
    do {
      isStale = false
      outdated = new AbortController()
      // Errors during shutdown are ignored.
      await onChange(outdated.signal).catch((error) => isDisposed || report(error))
    } while (isStale && !isDisposed)
    running = undefined
  }
  const changed = (): void => {
    isStale = true
    outdated.abort()
    running ??= run()
  }
  // The caller already made the first build.
  let reportFirst = (): void => {}
  const first = new Promise<void>((resolve) => {
    reportFirst = resolve
  })
  let isFirst = true
  const changes: Plugin = {
    name: 'mayfly-changes',
    setup(build) {
      build.onEnd(({ errors }) => {
        if (isFirst) {
          isFirst = false
          return reportFirst()
        }
        if (isDisposed) return
        if (errors.length > 0 && !isBuiltElsewhere) return report(buildErrors(errors))
        changed()
      })
    },
  }
  const context = await esbuild.context({
    entryPoints: [entry],
    absWorkingDir: cwd,
    bundle: true,
    platform: 'node',
    format: 'esm',
    write: false,
    outdir: cwd,
    // Missing imports are left to the platform's own build, which may resolve them.
    plugins: [installedPackages({ mayMiss: true }), changes],
    logLevel: 'silent',
  })
  await context.watch()
  // Changes are noticed from here on.
  await first
  const forget = endEsbuildAfterDeath()
  return {
    changed,
    dispose: async () => {
      forget()
      isDisposed = true
      outdated.abort()
      await context.dispose()
      await running
    },
  }
}

/** Kills the given processes if they still are esbuild. */
const END_ESBUILD = `for pid; do case $(ps -o comm= -p "$pid") in *esbuild) kill -s KILL "$pid";; esac; done`

/**
 * Kills esbuild's process after this one ends. It normally ends by itself, but hangs if it is waiting for the answer to a ping (esbuild
 * 0.28). Returns a function that cancels this.
 */
function endEsbuildAfterDeath(): () => void {
  const own = esbuildProcesses()
  return own.length === 0 ? () => {} : afterDeath(END_ESBUILD, own)
}

/** Empty without `ps`, as on Windows. */
function esbuildProcesses(): string[] {
  if (process.platform === 'win32') return []
  const { stdout } = spawnSync('ps', ['-A', '-o', 'pid=,ppid=,comm='], { encoding: 'utf8' })
  return (stdout ?? '').split('\n').flatMap((line) => {
    const [pid = '', parent, name = ''] = line.trim().split(/\s+/)
    return Number(parent) === process.pid && name.endsWith('esbuild') ? [pid] : []
  })
}
