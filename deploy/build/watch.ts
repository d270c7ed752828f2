/** Watches the files of a server: those that its entry imports. */
import { spawnSync } from 'node:child_process'
import type { Plugin } from 'esbuild'
import { afterDeath } from '../run/ending.ts'
import { CliError } from '../terminal/cli-error.ts'
import { terminal } from '../terminal/terminal.ts'
import { buildErrors, installedPackages, loadEsbuild } from './bundler.ts'

export interface EntryWatch {
  dispose(): Promise<void>
}

/**
 * Calls `onChange` after each change, one at a time, and again when there was another meanwhile: `outdated` aborts then. If it throws,
 * or a change does not build, this is reported on stderr, and the next change is waited for.
 */
export async function watchEntry(
  entry: string,
  cwd: string,
  onChange: (outdated: AbortSignal) => Promise<void>,
): Promise<EntryWatch> {
  const esbuild = await loadEsbuild(cwd)
  let running: Promise<void> | undefined
  let isStale = false
  let isDisposed = false
  let outdated = new AbortController()
  const run = async (): Promise<void> => {
    do {
      isStale = false
      outdated = new AbortController()
      // Once all is to end, what fails is not news.
      await onChange(outdated.signal).catch((error) => isDisposed || report(error))
    } while (isStale && !isDisposed)
    running = undefined
  }
  // The caller has made the first build.
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
        if (errors.length > 0) return report(buildErrors(errors))
        isStale = true
        outdated.abort()
        running ??= run()
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
    // What is missing is for the platform's own build to refuse, if that does not know it either.
    plugins: [installedPackages({ mayMiss: true }), changes],
    logLevel: 'silent',
  })
  await context.watch()
  // Changes count from here on.
  await first
  const forget = endEsbuildAfterDeath()
  return {
    dispose: async () => {
      forget()
      isDisposed = true
      outdated.abort()
      await context.dispose()
      await running
    },
  }
}

/** Ends the processes `$1` and so on, where they are still esbuild's. */
const END_ESBUILD = `for pid; do case $(ps -o comm= -p "$pid") in *esbuild) kill -s KILL "$pid";; esac; done`

/**
 * esbuild's own process ends with this one, but for one that waits for an answer to its last ping just then: it would wait for ever
 * (esbuild 0.28). Returns a function that gives this up.
 */
function endEsbuildAfterDeath(): () => void {
  const own = esbuildProcesses()
  return own.length === 0 ? () => {} : afterDeath(END_ESBUILD, own)
}

/** Empty without `ps`. */
function esbuildProcesses(): string[] {
  const { stdout } = spawnSync('ps', ['-A', '-o', 'pid=,ppid=,comm='], { encoding: 'utf8' })
  return (stdout ?? '').split('\n').flatMap((line) => {
    const [pid = '', parent, name = ''] = line.trim().split(/\s+/)
    return Number(parent) === process.pid && name.endsWith('esbuild') ? [pid] : []
  })
}

function report(error: unknown): void {
  if (!(error instanceof CliError)) throw error
  terminal.warn(error.message)
}
