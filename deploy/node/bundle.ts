/** Bundles a server's own files for Node; packages stay where they are installed. */
import { writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { BuildOptions, Plugin } from 'esbuild'
import { buildErrors, isBuildFailure, isInstalled, loadEsbuild, requireDefaultExport } from '../bundler.ts'
import { isSystemError, systemError } from '../system-error.ts'
import { createWorkFolder } from '../work-folder.ts'

/** Bundles once, into a folder of its own. Throws `CliError` for what does not build. */
export async function bundleOnce(entry: string, cwd: string): Promise<{ file: string; dispose(): void }> {
  const { folder, dispose } = createWorkFolder(cwd, 'run')
  const file = join(folder, 'server.mjs')
  try {
    await bundleForNode(entry, cwd, file)
    return { file, dispose }
  } catch (error) {
    dispose()
    throw error
  } finally {
    await (await loadEsbuild(cwd)).stop()
  }
}

/** Writes the bundle, with its source map inside, and resolves with its size in bytes. Throws `CliError` for what does not build. */
export async function bundleForNode(entry: string, cwd: string, file: string): Promise<number> {
  const esbuild = await loadEsbuild(cwd)
  try {
    const { metafile, outputFiles } = await esbuild.build(optionsFor(entry, cwd, file))
    requireDefaultExport(metafile, entry)
    const { contents = new Uint8Array() } = outputFiles[0] ?? {}
    writeFileSync(file, contents)
    return contents.byteLength
  } catch (error) {
    if (isBuildFailure(error)) throw buildErrors(error.errors)
    throw isSystemError(error) ? systemError('the build cannot be written', error) : error
  }
}

function optionsFor(entry: string, cwd: string, outfile: string) {
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
    outfile,
    plugins: [installedPackages],
  } as const satisfies BuildOptions
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
      if (found.errors.length > 0 || found.external || !isInstalled(found.path)) return found
      // require() takes a path, import a URL.
      return { path: kind === 'require-call' ? found.path : pathToFileURL(found.path).href, external: true }
    })
  },
}
