/** The user's esbuild, and its results as lines. */

import { dirname, extname, resolve, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { BuildFailure, Message, Metafile, Plugin } from 'esbuild'
import { isA, memberOf } from '../../src/definition/error-text.ts'
import type { Project } from '../contract/target.ts'
import { displayPath, noDefaultExport } from '../project/entry.ts'
import { packageFolder } from '../project/mayfly-package.ts'
import { refuseForeignSources } from '../project/owner.ts'
import { resolveTool } from '../project/project-tool.ts'
import { CliError } from '../terminal/cli-error.ts'
import { importRemedy } from './import-remedy.ts'

/** Loads the project's esbuild, otherwise the one installed with Mayfly. Throws `CliError` if neither exists. */
export async function loadEsbuild(cwd: string): Promise<typeof import('esbuild')> {
  return import(pathToFileURL(resolveTool('esbuild', cwd)).href)
}

/** Absolute paths of the server's files: the entry and its imports, without installed packages. Only the entry if it does not build. */
export async function sourceFiles({ cwd, entry }: Pick<Project, 'cwd' | 'entry'>): Promise<string[]> {
  const { inputs } = await bundleOwnCode({ cwd, entry })
  const files = inputs.map((path) => resolve(cwd, path))
  return [entry, ...files.filter((path) => !path.includes(`${sep}node_modules${sep}`))]
}

/** Whether the project's own code uses sessions. Installed packages are not searched. */
export async function keepsSessions(project: Pick<Project, 'cwd' | 'entry'>): Promise<boolean> {
  const text = await ownCode(project)
  return /\bimport \{[^}]*\b(?:createSessions|startHTTP|startSSE|startHonoSSE)\b[^}]*\} from "mayfly-mcp\/node"/.test(
    text,
  )
}

/** Whether the project's own code stores the connections of people in memory, and nowhere else. Installed packages are not searched. */
export async function keepsGrantsInMemory(project: Pick<Project, 'cwd' | 'entry'>): Promise<boolean> {
  const text = await ownCode(project)
  const hasShared = /\b(?:postgres|redis|dynamo|durableObject)Grants\(/.test(text)
  return /\bcreateMemoryGrants\(/.test(text) && /\bsignIn\(/.test(text) && !hasShared
}

/** Whether people sign in to the URL that the platform gives, as far as the project's own code shows. */
export async function needsRedirectUrl(project: Pick<Project, 'cwd' | 'entry'>): Promise<boolean> {
  const text = await ownCode(project)
  return /\bsignIn\(/.test(text) && text.includes('"mayfly-mcp/sign-in"') && !/\bpublicUrl\b/.test(text)
}

/** The project's own code as one text, without installed packages and comments. Empty if it does not build. */
export async function ownCode(project: Pick<Project, 'cwd' | 'entry'>): Promise<string> {
  return (await bundleOwnCode(project)).text
}

/** Empty if it does not build. */
async function bundleOwnCode({
  cwd,
  entry,
}: Pick<Project, 'cwd' | 'entry'>): Promise<{ readonly inputs: readonly string[]; readonly text: string }> {
  const esbuild = await loadEsbuild(cwd)
  try {
    const { metafile, outputFiles } = await esbuild.build({
      entryPoints: [entry],
      absWorkingDir: cwd,
      bundle: true,
      packages: 'external',
      format: 'esm',
      write: false,
      outdir: cwd,
      metafile: true,
      logLevel: 'silent',
      plugins: [otherFiles],
    })
    return { inputs: Object.keys(metafile.inputs), text: outputFiles.map((file) => file.text).join('\n') }
  } catch (error) {
    if (isBuildFailure(error)) return { inputs: [], text: '' }
    throw error
  }
}

/** Bundlers differ in how they load files such as `*.html` and `*.wasm`. */
const otherFiles: Plugin = {
  name: 'mayfly-other-files',
  setup(build) {
    build.onLoad({ filter: /./, namespace: 'file' }, ({ path }) =>
      /^\.(?:[cm]?[jt]s|[jt]sx|json)$/.test(extname(path)) ? undefined : { contents: '', loader: 'empty' },
    )
  },
}

interface PackagesOptions {
  readonly mayMiss: boolean
  /** Keeps linked packages out, too. Default false. */
  readonly areLinkedKept?: boolean
}

/**
 * Keeps installed packages out of a bundle and imports them by resolved path, since the bundle may be in another folder. Linked packages (a
 * workspace, the project's own name) have no `node_modules` in their real path and are bundled. With `mayMiss`, packages that are not found
 * stay external too; otherwise they fail the build.
 */
export function installedPackages({ mayMiss, areLinkedKept = false }: PackagesOptions): Plugin {
  const isAsked = {}
  return {
    name: 'mayfly-installed-packages',
    setup(build) {
      build.onResolve({ filter: /^[^./]/ }, async ({ path, kind, importer, resolveDir, pluginData }) => {
        if (kind === 'entry-point' || pluginData === isAsked) return undefined
        const found = await build.resolve(path, { kind, importer, resolveDir, pluginData: isAsked })
        if (found.errors.length > 0) return mayMiss ? { path, external: true } : found
        if (found.external || !(areLinkedKept || isInstalled(found.path))) return found
        // require() takes a path, import a URL.
        return { path: kind === 'require-call' ? found.path : pathToFileURL(found.path).href, external: true }
      })
    },
  }
}

/** Whether this file belongs to an installed package. A linked package, such as a workspace, has no `node_modules` in its real path. */
function isInstalled(file: string): boolean {
  return dirname(file).includes(`${sep}node_modules${sep}`)
}

/** One line per error: `src/server.ts:3:5: Expected ";" but found "x"`. */
export function buildErrors(errors: readonly Message[]): CliError {
  const lines = errors.map((error) => `${place(error.location)}${error.text}${importRemedy(error)}`)
  return new CliError(lines)
}

export function isBuildFailure(error: unknown): error is BuildFailure {
  return isA(error, Error) && Array.isArray(memberOf(error, 'errors'))
}

/** Throws `CliError` if a file of another user was bundled, or would be imported from where it is installed. */
export function refuseForeignInputs(
  { inputs }: Metafile,
  { cwd, entry }: Pick<Project, 'cwd' | 'entry'>,
): void {
  const imported = Object.values(inputs)
    .flatMap(({ imports }) => imports)
    .flatMap(({ path, external }) => (external && /^(?:file:|[/\\])/.test(path) ? [path] : []))
    .map((path) => (path.startsWith('file:') ? fileURLToPath(path) : path))
  const bundled = Object.keys(inputs)
    // A file imported as `./a.js?b` is named so.
    .flatMap((path) => [path, path.replace(/[?#].*$/, '')])
    .map((path) => resolve(cwd, path))
  refuseForeignSources([...bundled, ...imported], [cwd, dirname(entry), packageFolder()])
}

/** Throws `CliError` if the entry has no default export. */
export function requireDefaultExport(metafile: Metafile, entry: string): void {
  const outputs = Object.values(metafile.outputs)
  if (!outputs.some((output) => output.entryPoint && output.exports.includes('default'))) {
    throw noDefaultExport(entry)
  }
}

function place(location: Message['location']): string {
  if (!location) return ''
  const { file, line, column, lineText } = location
  // esbuild counts bytes, editors characters.
  const before = Buffer.from(lineText).subarray(0, column).toString()
  return `${displayPath(file)}:${line}:${before.length + 1}: `
}
