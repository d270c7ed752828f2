/** Bundles a Worker's entry to report errors in one line, where wrangler prints thirty. */
import type { Plugin } from 'esbuild'
import {
  buildErrors,
  installedPackages,
  isBuildFailure,
  loadEsbuild,
  refuseForeignInputs,
  requireDefaultExport,
} from '../../build/bundler.ts'

/** Wrangler bundles these by the project's own rules (`*.wasm`, `*.html`, ...). */
const otherModules: Plugin = {
  name: 'mayfly-other-modules',
  setup(build) {
    build.onResolve({ filter: /^\..*\.(?:wasm|bin|html|txt|sql|md|css|svg)(?:\?\w+)?$/ }, ({ path }) => ({
      path,
      external: true,
    }))
  },
}

/** Throws `CliError` for an entry that does not build or has no default export. Does not run it. */
export async function checkWorkerEntry(entry: string, cwd: string): Promise<void> {
  const esbuild = await loadEsbuild(cwd)
  try {
    const { metafile } = await esbuild.build({
      entryPoints: [entry],
      absWorkingDir: cwd,
      bundle: true,
      format: 'esm',
      target: 'esnext',
      plugins: [otherModules, installedPackages({ mayMiss: true, areLinkedKept: true })],
      write: false,
      outdir: cwd,
      metafile: true,
      logLevel: 'silent',
    })
    refuseForeignInputs(metafile, { cwd, entry })
    requireDefaultExport(metafile, entry)
  } catch (error) {
    throw isBuildFailure(error) ? buildErrors(error.errors) : error
  } finally {
    await esbuild.stop()
  }
}
