/** A worker in workerd, bundled as wrangler bundles, without Node's modules. */
import { build } from 'esbuild'
import { Miniflare } from 'miniflare'
import type { RunningWorker } from './_scenarios.ts'

export async function bundleForWorkerd(entry: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    minify: true,
    format: 'esm',
    target: 'es2022',
    conditions: ['workerd', 'worker', 'browser'],
    legalComments: 'none',
  })
  return outputFiles[0]!.text
}

export async function startInWorkerd(entry: string): Promise<RunningWorker> {
  const modules = { 'worker.js': { type: 'esm' as const, contents: await bundleForWorkerd(entry) } }
  const manifest = { mainModule: 'worker.js', modulesRoot: import.meta.dirname, modules }
  const worker = new Miniflare({
    // Its default asks the internet where it is.
    cf: false,
    workers: [{ config: { name: 'client', compatibilityDate: '2025-09-01', manifest } }],
  })
  return {
    post: (init) => worker.dispatchFetch('http://worker.example/mcp', init),
    stop: () => worker.dispose(),
  }
}
