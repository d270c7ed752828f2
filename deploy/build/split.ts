/** Splits a bundle: what is loaded by `import()` becomes a file of its own, which the runtime opens when it is first used. */
import { basename, dirname, extname, resolve, sep } from 'node:path'
import type { BuildOptions, Metafile, OutputFile, Plugin } from 'esbuild'
import { isBelow } from '../project/mayfly-package.ts'
import { createOrderSense, filesAtStart, keepsOrder, type OrderSense } from './module-order.ts'

/** Each file that is opened at the start costs as much as parsing 20 KB (Node 24, deno 2.9). */
const MAX_AT_START = 4

/** Bundles with esbuild, without writing files, and checks whose code is in it. */
export type Bundle = (
  options: BuildOptions,
) => Promise<{ readonly metafile: Metafile; readonly outputFiles: OutputFile[] }>

const MAIN = 'mayfly:main'
const MAIN_NAMESPACE = 'mayfly-main'
const PART_NAMESPACE = 'mayfly-part'

/**
 * The files of a bundle whose one file `options` describes (`stdin` and `outfile`) and `whole` is the metafile of. Mayfly's own code is
 * `<outfile>`, one file that all parts share, and one for each part; modules that only parts share are in one more.
 *
 * Undefined if there is nothing to split, if the modules of the project would run in another order, or if too many files were opened at the
 * start.
 */
export async function splitBundle(
  bundle: Bundle,
  { stdin, outfile = '', plugins = [], ...options }: BuildOptions,
  whole: Metafile,
): Promise<OutputFile[] | undefined> {
  const cwd = options.absWorkingDir ?? process.cwd()
  const order = createOrderSense({ cwd, isOwn })
  const graph = new Graph(whole, cwd, order)
  if (graph.loadedLater.length === 0) return undefined
  const extension = extname(outfile)
  const { metafile, outputFiles } = await bundle({
    ...options,
    entryPoints: [{ in: MAIN, out: basename(outfile, extension) }],
    outdir: dirname(outfile),
    outExtension: { '.js': extension },
    chunkNames: '[name]-[hash]',
    splitting: true,
    plugins: [mainPlugin(stdin, outfile), partsPlugin(graph), ...plugins],
  })
  const main = `${MAIN_NAMESPACE}:${basename(outfile)}`
  return filesAtStart(metafile, main).length <= MAX_AT_START && keepsOrder(metafile, main, order)
    ? outputFiles
    : undefined
}

/** Whether a file is part of Mayfly. Its modules only define: nothing depends on when they run. */
function isOwn(file: string): boolean {
  return file.includes(`${sep}node_modules${sep}mayfly-mcp${sep}`) || isBelow(file, 'dist', 'src', 'adapters')
}

/** Which modules of a bundle need which. */
class Graph {
  /** Modules that something loads by `import()`. */
  readonly loadedLater: readonly string[]
  /** Absolute paths of Mayfly's own, and a name of its own for each. */
  readonly parts: ReadonlyMap<string, string>
  /**
   * Absolute paths of Mayfly's modules that the start needs, and of those that several parts need, unless they import something that must
   * run in its place.
   */
  readonly shared: readonly string[]
  readonly #inputs: Metafile['inputs']

  constructor({ inputs, outputs }: Metafile, cwd: string, order: OrderSense) {
    this.#inputs = inputs
    const contents = Object.values(outputs).flatMap((output) => Object.entries(output.inputs))
    const used = new Set(contents.flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : [])))
    const edges = [...used].flatMap((importer) =>
      (inputs[importer]?.imports ?? [])
        .filter(({ kind, external, path }) => kind === 'dynamic-import' && !external && used.has(path))
        .map(({ path }) => ({ importer, path })),
    )
    this.loadedLater = [...new Set(edges.map(({ path }) => path))]
    const isOwnInput = (path: string): boolean => isOwn(resolve(cwd, path))
    const own = new Set(edges.filter(({ importer }) => isOwnInput(importer)).map(({ path }) => path))
    const parts = [...own].sort()
    const later = new Set(this.loadedLater)
    const imported = new Set(Object.values(inputs).flatMap(({ imports }) => imports.map(({ path }) => path)))
    // What nothing imports: the module that the platform loads.
    const roots = Object.keys(inputs).filter((path) => !later.has(path) && !imported.has(path))
    const started = this.#closure(roots)
    const counts = new Map<string, number>()
    for (const part of parts)
      for (const path of this.#closure([part])) counts.set(path, (counts.get(path) ?? 0) + 1)
    const between = [...counts].flatMap(([path, count]) => (count > 1 && !started.has(path) ? [path] : []))
    const isMovable = (path: string): boolean => isOwnInput(path) && ![...this.#closure([path])].some(order)
    this.shared = [...started, ...between.sort()].filter(isMovable).map((path) => resolve(cwd, path))
    this.parts = named(parts.map((path) => resolve(cwd, path)))
  }

  /** With everything that they import, not what they load later. */
  #closure(paths: readonly string[]): Set<string> {
    const found = new Set<string>()
    const visit = (path: string): void => {
      if (found.has(path)) return
      found.add(path)
      for (const { path: imported, kind, external } of this.#inputs[path]?.imports ?? [])
        if (kind !== 'dynamic-import' && !external) visit(imported)
    }
    for (const path of paths) visit(path)
    return found
  }
}

/** Each with its file's name, numbered if others have it, too. */
function named(files: readonly string[]): Map<string, string> {
  const taken = new Map<string, number>()
  return new Map(
    files.map((file) => {
      const name = basename(file, extname(file))
      const count = (taken.get(name) ?? 0) + 1
      taken.set(name, count)
      return [file, count === 1 ? name : `${name}${count}`]
    }),
  )
}

/** An entry from `stdin` would get a name of esbuild's. */
function mainPlugin(stdin: BuildOptions['stdin'], outfile: string): Plugin {
  return {
    name: 'mayfly-main',
    setup(build) {
      build.onResolve({ filter: new RegExp(`^${MAIN}$`) }, () => ({
        path: basename(outfile),
        namespace: MAIN_NAMESPACE,
      }))
      build.onLoad({ filter: /./, namespace: MAIN_NAMESPACE }, () => ({
        contents: stdin?.contents ?? '',
        resolveDir: stdin?.resolveDir ?? '.',
        loader: stdin?.loader ?? 'js',
      }))
    },
  }
}

/**
 * esbuild writes one file for each set of parts that share a module: a dozen parts would make a hundred. So each part also imports what the
 * start needs and what several parts need: then there are two such sets. All these modules are free of side effects.
 */
function partsPlugin({ parts, shared }: Graph): Plugin {
  const isAsked = {}
  const files = new Map([...parts].map(([file, name]) => [name, file]))
  return {
    name: 'mayfly-parts',
    setup(build) {
      build.onResolve({ filter: /^\./ }, async ({ path, kind, importer, resolveDir, pluginData }) => {
        if (kind !== 'dynamic-import' || pluginData === isAsked || !isOwn(importer)) return undefined
        const found = await build.resolve(path, { kind, importer, resolveDir, pluginData: isAsked })
        const name = parts.get(found.path)
        if (name !== undefined) return { path: name, namespace: PART_NAMESPACE }
        // Nothing that is used loads it, but esbuild would still write a file for it.
        return found.errors.length > 0 ? found : { path, external: true }
      })
      build.onLoad({ filter: /./, namespace: PART_NAMESPACE }, ({ path: name }) => {
        const file = files.get(name) ?? name
        const imports = shared.map((one) => `import ${JSON.stringify(one)}`)
        return {
          contents: [...imports, `export * from ${JSON.stringify(file)}`].join('\n'),
          resolveDir: dirname(file),
          loader: 'js',
        }
      })
    },
  }
}
