/** Bundles a user's server with the code that a platform needs to load it. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { createRequire, isBuiltin } from 'node:module'
import { basename, dirname } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { BuildOptions, Message, Metafile, OutputFile, Plugin } from 'esbuild'
import type { Artefact, Project } from '../contract/target.ts'
import { noDefaultExport, noFetch } from '../project/entry.ts'
import { buildErrors, isBuildFailure, loadEsbuild, refuseForeignInputs } from './bundler.ts'
import { type FileNames, fileNames } from './file-names.ts'
import { optionalPackages } from './optional-packages.ts'
import { type Bundle, splitBundle } from './split.ts'

export interface ServerBundle {
  /** Source of the module that the platform loads; it imports the user's server from `mayfly:entry`, named exports from `mayfly:exports`. */
  readonly main: string
  /** Absolute path to write. */
  readonly outfile: string
  /** `node` leaves Node's own modules as imports; `neutral` is for platforms with web standards only. */
  readonly platform: 'node' | 'neutral'
  /** Conditions of package exports on that platform: `['workerd']`, `['deno']`. */
  readonly conditions?: readonly string[]
  readonly format?: 'esm' | 'iife'
  readonly external?: readonly string[]
  readonly plugins?: readonly Plugin[]
  readonly banner?: string
  /** `linked` writes `<outfile>.map`. Neither has the text of the source files. Default: none. */
  readonly sourceMap?: 'inline' | 'linked'
  /** Default `es2022`. */
  readonly target?: string
  /** Whether what is loaded by `import()` may be in files beside `outfile`. The platform must then get the whole folder. Default false. */
  readonly isSplit?: boolean
}

/** For `platform: 'node'`: the bundle is an ES module, and may contain CommonJS that requires Node's own modules. */
export const NODE_BANNER =
  "import { createRequire as mayflyCreateRequire } from 'node:module'; const require = mayflyCreateRequire(import.meta.url), mayflyMeta = import.meta;"

/** The files are in the bundle, whose folder has nothing else. Older versions of Node do not know it. */
const BUNDLED_NAMES: FileNames = {
  __filename: "mayflyMeta.filename ?? 'server.mjs'",
  __dirname: "mayflyMeta.dirname ?? '.'",
}

/** The user's server, as the platforms' modules import it. */
const ENTRY = 'mayfly:entry'

const OWN = createRequire(import.meta.url)

export interface WrittenBundle {
  /** Of all files. */
  readonly size: Artefact['size']
  /** Names of the files with code, in the folder of `outfile`, which is the first. */
  readonly files: readonly string[]
}

/** Writes the minified bundle. Throws `CliError` for an entry that does not build or exports no server. */
export async function bundleServer(project: Project, bundle: ServerBundle): Promise<WrittenBundle> {
  const esbuild = await loadEsbuild(project.cwd)
  const options: BuildOptions = {
    stdin: {
      contents: bundle.main,
      resolveDir: dirname(project.entry),
      sourcefile: `mayfly:${basename(bundle.outfile)}`,
      loader: 'ts',
    },
    absWorkingDir: project.cwd,
    outfile: bundle.outfile,
    bundle: true,
    minify: true,
    platform: bundle.platform,
    mainFields: ['module', 'main'],
    // Not esbuild's default condition `module`. `import` and `require` are added by how a package is loaded.
    conditions: [...(bundle.conditions ?? [])],
    format: bundle.format ?? 'esm',
    target: bundle.target ?? 'es2022',
    external: [...(bundle.external ?? [])],
    banner: { js: bundle.banner ?? '' },
    // Packages select their production code by this variable.
    define: { 'process.env.NODE_ENV': '"production"' },
    legalComments: 'none',
    ...(bundle.sourceMap && { sourcemap: bundle.sourceMap, sourcesContent: false }),
    plugins: [
      ...(bundle.plugins ?? []),
      entryPlugin(project.entry),
      optionalPackages(),
      ...(bundle.banner?.includes(NODE_BANNER) ? [fileNames(() => BUNDLED_NAMES)] : []),
      ...(bundle.platform === 'node' ? [nodeModules] : []),
    ],
    logLevel: 'silent',
  }
  const built = await build(esbuild, options, project, bundle.isSplit).catch((error: unknown) => {
    if (!isBuildFailure(error)) throw error
    const isOfEntry = ({ text, location }: Message): boolean =>
      location?.file === `mayfly:${ENTRY}` && /No matching export in ".*" for import "default"/.test(text)
    if (error.errors.some(isOfEntry)) throw noDefaultExport(project.entry)
    throw buildErrors(error.errors)
  })
  mkdirSync(dirname(bundle.outfile), { recursive: true })
  for (const { path, contents } of built) writeFileSync(path, contents)
  const code = built.filter(({ path }) => !path.endsWith('.map'))
  const main = basename(bundle.outfile)
  const others = code.map(({ path }) => basename(path)).filter((name) => name !== main)
  return {
    size: {
      raw: sum(code.map(({ contents }) => contents.byteLength)),
      gzip: sum(code.map(({ contents }) => gzipSync(contents, { level: 9 }).byteLength)),
    },
    files: [main, ...others.sort()],
  }
}

async function build(
  esbuild: typeof import('esbuild'),
  given: BuildOptions,
  project: Project,
  isSplit = false,
): Promise<readonly OutputFile[]> {
  const bundle: Bundle = async (options) => {
    const { metafile, outputFiles } = await esbuild.build({ ...options, metafile: true, write: false })
    refuseForeignInputs(metafile, project)
    return { metafile, outputFiles }
  }
  let options = given
  let whole = await bundle(options)
  if (usesTransports(whole.metafile)) {
    options = { ...options, plugins: [...(options.plugins ?? []), transportsOf(project)] }
    whole = await bundle(options)
  }
  const parts = isSplit ? await splitBundle(bundle, options, whole.metafile) : undefined
  return parts ?? whole.outputFiles
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0)
}

const TRANSPORTS = {
  loadStreamable: '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js',
}

const TRANSPORTS_MODULE = /adapters[\\/]_node[\\/]packages\.[jt]s$/

/** Whether the bundle, after tree shaking, loads an SDK's transport when it runs. */
function usesTransports({ outputs }: Metafile): boolean {
  return Object.values(outputs).some(({ inputs }) =>
    Object.entries(inputs).some(
      ([file, { bytesInOutput }]) => bytesInOutput > 0 && TRANSPORTS_MODULE.test(file),
    ),
  )
}

/**
 * Bundles those that are installed, since the artefact must work without node_modules. Uses static imports: esbuild 0.28 omits the
 * initialisation of zod's classes if an `import()` also leads to zod.
 */
function transportsOf(project: Project): Plugin {
  return {
    name: 'mayfly-transports',
    setup(build) {
      build.onLoad({ filter: TRANSPORTS_MODULE }, async ({ path }) => {
        const lines = await Promise.all(
          Object.entries(TRANSPORTS).map(async ([load, specifier]) => {
            for (const resolveDir of [dirname(path), project.cwd]) {
              const found = await build.resolve(specifier, { kind: 'import-statement', resolveDir })
              if (found.errors.length > 0) continue
              const name = `${load}Module`
              return `import * as ${name} from ${JSON.stringify(found.path)}\nexport const ${load} = async () => ${name}`
            }
            const message = `This needs ${specifier.split('/', 2).join('/')}: install it and build again.`
            return `export const ${load} = async () => { throw new Error(${JSON.stringify(message)}) }`
          }),
        )
        return { contents: lines.join('\n'), resolveDir: dirname(path), loader: 'js' }
      })
    },
  }
}

/** Errors that a platform would only report at the first request. */
function checkedEntry(entry: string): string {
  const complaint = JSON.stringify(noFetch(entry).message)
  return `import server from ${JSON.stringify(entry)}
if (typeof server?.fetch !== 'function') throw Object.assign(new TypeError(${complaint}), { exported: server })
export default server`
}

function entryPlugin(entry: string): Plugin {
  return {
    name: 'mayfly-entry',
    setup(build) {
      build.onResolve({ filter: /^mayfly:(?:entry|exports)$/ }, ({ path }) => ({
        path,
        namespace: 'mayfly',
      }))
      build.onLoad({ filter: /./, namespace: 'mayfly' }, ({ path }) => ({
        contents: path === ENTRY ? checkedEntry(entry) : `export * from ${JSON.stringify(entry)}`,
        resolveDir: dirname(entry),
      }))
      // A project that was not written with Mayfly may not have it installed. Its adapters are then resolved from this file.
      build.onResolve(
        { filter: /^mayfly-mcp\// },
        async ({ path, kind, importer, resolveDir, pluginData }) => {
          if (pluginData === build) return undefined
          const found = await build.resolve(path, { kind, importer, resolveDir, pluginData: build })
          return found.errors.length === 0 ? found : (ownEntryPoint(path) ?? found)
        },
      )
    },
  }
}

/** Undefined if Mayfly has no such entry point. */
function ownEntryPoint(path: string): { readonly path: string } | undefined {
  try {
    return { path: OWN.resolve(path) }
  } catch {
    return undefined
  }
}

/** Node's own modules, including the names that other runtimes use for them. */
const nodeModules: Plugin = {
  name: 'mayfly-node-modules',
  setup(build) {
    build.onResolve({ filter: /^[a-z]/ }, ({ path }) =>
      isBuiltin(path)
        ? { path: path.startsWith('node:') ? path : `node:${path}`, external: true }
        : undefined,
    )
  },
}
