/** Watches the files of a server: those that its entry imports. */
import type { Plugin } from 'esbuild'
import { buildErrors, installedPackages, loadEsbuild } from './bundler.ts'
import { CliError } from './cli-error.ts'
import { terminal } from './terminal.ts'

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
  return {
    dispose: async () => {
      isDisposed = true
      outdated.abort()
      await context.dispose()
      await running
    },
  }
}

function report(error: unknown): void {
  if (!(error instanceof CliError)) throw error
  terminal.warn(error.message)
}
