/** A workerd with one Worker, bundled from source, and its Durable Objects. */
import { basename } from 'node:path'
import { type BuildOptions, build, type OutputFile } from 'esbuild'
import { Miniflare } from 'miniflare'

const NAME = 'worker'

/**
 * The caller disposes it. `objects` are classes that the Worker exports; each is also the name of its binding. `queues` are names of
 * bindings, whose messages its handler `queue` gets.
 */
export async function startWorkerd(
  source: Pick<BuildOptions, 'entryPoints' | 'stdin' | 'splitting'>,
  objects: readonly string[] = [],
  queues: readonly string[] = [],
): Promise<Miniflare> {
  const { outputFiles } = await build({
    ...source,
    bundle: true,
    write: false,
    format: 'esm',
    outdir: '/',
    external: ['cloudflare:*'],
  })
  // Of a split bundle, one of several files.
  const [only, ...others] = outputFiles.map(({ path }) => path)
  const entry = others.length === 0 ? only : '/stdin.js'
  const toModule = ({ path, text }: OutputFile) =>
    [path === entry ? 'worker.js' : basename(path), { type: 'esm' as const, contents: text }] as const
  const modules = Object.fromEntries(outputFiles.map(toModule))
  const binding = (exportName: string) => ({ type: 'durable-object' as const, worker: NAME, exportName })
  const object = { type: 'durable-object' as const, storage: 'sqlite' as const }
  const config = {
    name: NAME,
    compatibilityDate: '2025-09-01',
    manifest: { mainModule: 'worker.js', modulesRoot: import.meta.dirname, modules },
    env: Object.fromEntries([
      ...objects.map((name) => [name, binding(name)]),
      ...queues.map((name) => [name, { type: 'queue' as const, name: name.toLowerCase() }]),
    ]),
    triggers: queues.map((name) => ({
      type: 'queue' as const,
      name: name.toLowerCase(),
      maxBatchTimeout: 0,
    })),
    exports: Object.fromEntries(objects.map((name) => [name, object])),
  }
  const dev = { unsafeDirectSockets: [{ host: '127.0.0.1', port: 0 }] }
  // Its default asks the internet where it is.
  const workerd = new Miniflare({ cf: false, workers: [{ config, dev }] })
  await workerd.ready
  return workerd
}

/** Where the Worker itself listens, without Miniflare's proxy. */
export function urlOf(workerd: Miniflare): Promise<URL> {
  return workerd.unsafeGetDirectURL(NAME)
}
