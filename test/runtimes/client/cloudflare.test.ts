/** In workerd, bundled as wrangler bundles, without Node's modules. */
import { build } from 'esbuild'
import { Miniflare } from 'miniflare'
import { expect, it } from 'vitest'
import { clientScenarios } from './_scenarios.ts'

async function bundle(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [`${import.meta.dirname}/_worker.ts`],
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

it('the bundle names no module of Node’s, and starts no process', async () => {
  const code = await bundle()

  expect(code).not.toMatch(/["'`]node:/)
  expect(code).not.toMatch(/child_process|cross-spawn/)
})

clientScenarios('workerd', async () => {
  const modules = { 'worker.js': { type: 'esm' as const, contents: await bundle() } }
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
})
