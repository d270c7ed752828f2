/** Watches a server's files: the entry and its imports. */

import { spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Metafile, Plugin } from 'esbuild'
import { isA } from '../../src/definition/error-text.ts'
import { afterDeath } from '../run/ending.ts'
import { CliError } from '../terminal/cli-error.ts'
import { terminal } from '../terminal/terminal.ts'
import { buildErrors, installedPackages, loadEsbuild } from './bundler.ts'

export interface WatchOptions {
  /** Called after an error was reported, also one of `onChange`. */
  readonly onReported?: (error: CliError) => void
  /** Calls `onChange` also if the files cannot be built here, since something else builds them. Default false. */
  readonly isBuiltElsewhere?: boolean
}

export interface EntryWatch {
  /** As if a file had changed, none of the server's own. */
  changed(): void
  dispose(): Promise<void>
}

/** What `onChange` is called for. */
export interface Change {
  /** Paths of the files that are not as they were in the last call, relative to `cwd`. Empty for a change of variables. */
  readonly files: readonly string[]
  /** When it was noticed, by `performance.now()`. */
  readonly noticedAt: number
}

/**
 * Calls `onChange` after each change, one call at a time. If another change happens during a call, aborts `outdated` and calls again.
 * Reports build errors and thrown errors on stderr, and waits for the next change.
 */
export async function watchEntry(
  entry: string,
  cwd: string,
  onChange: (outdated: AbortSignal, change: Change) => Promise<void>,
  { onReported, isBuiltElsewhere = false }: WatchOptions = {},
): Promise<EntryWatch> {
  const report = (error: unknown): void => {
    if (!isA(error, CliError)) throw error
    terminal.fail(error)
    onReported?.(error)
  }
  const esbuild = await loadEsbuild(cwd)
  let running: Promise<void> | undefined
  let isStale = false
  let isDisposed = false
  let outdated = new AbortController()
  let noticedAt = 0
  const files = new ChangedFiles(cwd)
  const run = async (): Promise<void> => {
    do {
      isStale = false
      outdated = new AbortController()
      const change = { files: files.changed(), noticedAt }
      // Errors during shutdown are ignored.
      await onChange(outdated.signal, change).catch((error) => isDisposed || report(error))
    } while (isStale && !isDisposed)
    running = undefined
  }
  const changed = (at = performance.now()): void => {
    noticedAt = at
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
      let startedAt = 0
      build.onStart(() => {
        startedAt = performance.now()
      })
      build.onEnd(({ errors, metafile }) => {
        if (metafile !== undefined) files.look(metafile)
        if (isFirst) {
          isFirst = false
          return reportFirst()
        }
        if (isDisposed) return
        if (errors.length > 0 && !isBuiltElsewhere) return report(buildErrors(errors))
        changed(startedAt)
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
    metafile: true,
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
    changed: () => changed(),
    dispose: async () => {
      forget()
      isDisposed = true
      outdated.abort()
      await context.dispose()
      await running
    },
  }
}

/** Which files of the server differ from those of the last look, by their times. */
class ChangedFiles {
  readonly #cwd: string
  #times: ReadonlyMap<string, number> = new Map()
  readonly #changed = new Set<string>()

  constructor(cwd: string) {
    this.#cwd = cwd
  }

  look({ inputs }: Metafile): void {
    const before = this.#times
    const paths = Object.keys(inputs)
    this.#times = new Map(
      paths.map((path) => [
        path,
        statSync(resolve(this.#cwd, path), { throwIfNoEntry: false })?.mtimeMs ?? 0,
      ]),
    )
    // A file that is new here may be an old one that is imported now.
    for (const [path, time] of this.#times)
      if (before.has(path) && before.get(path) !== time) this.#changed.add(path)
  }

  /** Since the last call. */
  changed(): readonly string[] {
    const changed = [...this.#changed]
    this.#changed.clear()
    return changed
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
