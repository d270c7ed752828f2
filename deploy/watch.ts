/** Watches the files of a server: those that its entry imports. */
import type { Plugin } from 'esbuild'
import { buildErrors, isInstalled, loadEsbuild } from './bundler.ts'
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
  let outdated = new AbortController()
  const run = async (): Promise<void> => {
    do {
      isStale = false
      outdated = new AbortController()
      await onChange(outdated.signal).catch(report)
    } while (isStale)
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
    plugins: [installedPackages, changes],
    logLevel: 'silent',
  })
  await context.watch()
  // Changes count from here on.
  await first
  return {
    dispose: async () => {
      await context.dispose()
      await running
    },
  }
}

/** What is installed does not change; what is linked, such as a package of the same workspace, does. */
const installedPackages: Plugin = {
  name: 'mayfly-unwatched-packages',
  setup(build) {
    build.onResolve({ filter: /^[^./]/ }, async ({ path, kind, importer, resolveDir, pluginData }) => {
      if (kind === 'entry-point' || pluginData === installedPackages) return undefined
      const found = await build.resolve(path, { kind, importer, resolveDir, pluginData: installedPackages })
      // What cannot be resolved is for the platform's own build to refuse, if that does not know it either.
      const isOwn = found.errors.length === 0 && !found.external && !isInstalled(found.path)
      return isOwn ? found : { path, external: true }
    })
  },
}

function report(error: unknown): void {
  if (!(error instanceof CliError)) throw error
  terminal.warn(error.message)
}
