/** Bundles a server's own files for Node, and imports packages from where they are installed. */
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { BuildOptions } from 'esbuild'
import { NODE_BANNER } from '../../build/bundle-server.ts'
import {
  buildErrors,
  installedPackages,
  isBuildFailure,
  loadEsbuild,
  refuseForeignInputs,
  requireDefaultExport,
} from '../../build/bundler.ts'
import { type FileNames, fileNames } from '../../build/file-names.ts'
import { createWorkFolder } from '../../build/work-folder.ts'
import { isSystemError, systemError } from '../../terminal/system-error.ts'

/** Bundles once, into a separate folder. Throws `CliError` if it does not build. */
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

/** Writes the bundle with an inline source map. Throws `CliError` if it does not build. */
export async function bundleForNode(entry: string, cwd: string, file: string): Promise<void> {
  const esbuild = await loadEsbuild(cwd)
  try {
    const { metafile, outputFiles } = await esbuild.build(optionsFor(entry, cwd, file))
    refuseForeignInputs(metafile, { cwd, entry })
    requireDefaultExport(metafile, entry)
    for (const { contents } of outputFiles) writeFileSync(file, contents)
  } catch (error) {
    if (isBuildFailure(error)) throw buildErrors(error.errors)
    throw isSystemError(error) ? systemError('the build cannot be written', error) : error
  }
}

/** The files stay where they are. */
function namesOf(path: string): FileNames {
  return { __filename: JSON.stringify(path), __dirname: JSON.stringify(dirname(path)) }
}

function optionsFor(entry: string, cwd: string, outfile: string) {
  return {
    entryPoints: [entry],
    absWorkingDir: cwd,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    // Not esbuild's default condition `module`, which Node does not support.
    conditions: [],
    sourcemap: 'inline',
    write: false,
    metafile: true,
    logLevel: 'silent',
    outfile,
    // For CommonJS, whose require() of packages is left to Node.
    banner: { js: NODE_BANNER },
    plugins: [installedPackages({ mayMiss: false }), fileNames(namesOf)],
  } as const satisfies BuildOptions
}
