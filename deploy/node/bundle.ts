/** Bundles a server's own files for Node and reports every rebuild; packages stay where they are installed. */
import { writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, join, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { BuildOptions, BuildResult, Plugin } from 'esbuild'
import { buildErrors, isBuildFailure, loadEsbuild, requireDefaultExport } from '../bundler.ts'
import { CliError } from '../cli-error.ts'
import { isSystemError, systemError } from '../system-error.ts'
import { createWorkFolder } from '../work-folder.ts'

export type Build = { ok: true; file: string } | { ok: false; error: CliError }

export interface BundleWatch {
  /** Stops watching and removes the bundles. */
  dispose(): Promise<void>
}

/**
 * Calls `onBuild` after the first build and after each change of a file in it. Every build has its own file name, as
 * the process that runs the previous one may still read it.
 */
export async function watchBundle(
  entry: string,
  cwd: string,
  onBuild: (build: Build) => void,
): Promise<BundleWatch> {
  const esbuild = await loadEsbuild(cwd)
  const { folder, dispose } = createWorkFolder(cwd, 'dev')
  let builds = 0
  const report: Plugin = {
    name: 'mayfly-report',
    setup(build) {
      build.onEnd((result) => onBuild(toBuild(result, entry, () => join(folder, `${++builds}.mjs`))))
    },
  }
  const context = await esbuild.context({
    ...optionsFor(entry, cwd),
    plugins: [installedPackages, report],
    outdir: folder,
  })
  await context.watch()
  return {
    dispose: async () => {
      await context.dispose()
      await esbuild.stop()
      dispose()
    },
  }
}

/** Bundles once. Throws `CliError` for what does not build. */
export async function bundleOnce(entry: string, cwd: string): Promise<{ file: string; dispose(): void }> {
  const esbuild = await loadEsbuild(cwd)
  const { folder, dispose } = createWorkFolder(cwd, 'run')
  try {
    const result = await esbuild
      .build({ ...optionsFor(entry, cwd), plugins: [installedPackages], outdir: folder })
      .catch((error: unknown) => {
        throw isBuildFailure(error) ? buildErrors(error.errors) : error
      })
    const build = toBuild(result, entry, () => join(folder, 'server.mjs'))
    if (!build.ok) throw build.error
    return { file: build.file, dispose }
  } catch (error) {
    dispose()
    throw error
  } finally {
    await esbuild.stop()
  }
}

function optionsFor(entry: string, cwd: string) {
  return {
    entryPoints: [entry],
    absWorkingDir: cwd,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    // Not esbuild's default condition `module`, which Node itself does not know.
    conditions: [],
    sourcemap: 'inline',
    write: false,
    metafile: true,
    logLevel: 'silent',
  } as const satisfies BuildOptions
}

function toBuild(result: BuildResult, entry: string, nextFile: () => string): Build {
  try {
    if (result.errors.length > 0) throw buildErrors(result.errors)
    if (result.metafile) requireDefaultExport(result.metafile, entry)
    const file = nextFile()
    writeFileSync(file, result.outputFiles?.[0]?.contents ?? '')
    return { ok: true, file }
  } catch (error) {
    if (error instanceof CliError) return { ok: false, error }
    if (isSystemError(error)) return { ok: false, error: systemError('the build cannot be written', error) }
    throw error
  }
}

/**
 * Leaves installed packages out of the bundle, by the file they resolve to: the bundle lies in another folder than the
 * files that import them. What is linked (a workspace, the project's own name) has no `node_modules` in its real path and
 * is bundled, and so watched.
 */
const installedPackages: Plugin = {
  name: 'mayfly-installed-packages',
  setup(build) {
    build.onResolve({ filter: /^[^./]/ }, async ({ path, kind, importer, resolveDir, pluginData }) => {
      if (kind === 'entry-point' || pluginData === installedPackages || isBuiltin(path)) return undefined
      const found = await build.resolve(path, { kind, importer, resolveDir, pluginData: installedPackages })
      if (
        found.errors.length > 0 ||
        found.external ||
        !dirname(found.path).includes(`${sep}node_modules${sep}`)
      ) {
        return found
      }
      // require() takes a path, import a URL.
      return { path: kind === 'require-call' ? found.path : pathToFileURL(found.path).href, external: true }
    })
  },
}
