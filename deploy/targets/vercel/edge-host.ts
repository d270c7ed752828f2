/**
 * Runs an Edge Function of the Build Output API in Vercel's own `edge-runtime`:
 * `edge-host.ts <port> <folder> <edge-runtime> <esbuild>`, where the last two are modules of the user's project.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { serve } from '../../../adapters/node.ts'

/** Only the members used here. Inlined, since the packages belong to the user's project. */
interface EdgeRuntimeModule {
  EdgeRuntime: new (options: {
    initialCode: string
    extend(context: object): object
  }) => { dispatchFetch(url: string, init: object): Promise<Response> }
}
interface Esbuild {
  transform(code: string, options: object): Promise<{ code: string }>
}

const [port = '', folder = '', edgeRuntime = '', esbuild = ''] = process.argv.slice(2)
const { EdgeRuntime } = await load<EdgeRuntimeModule>(edgeRuntime)
const { transform } = await load<Esbuild>(esbuild)
const { entrypoint } = JSON.parse(readFileSync(join(folder, '.vc-config.json'), 'utf8')) as {
  entrypoint: string
}

// `edge-runtime` runs scripts, while the platform runs a module.
const { code } = await transform(readFileSync(join(folder, entrypoint), 'utf8'), {
  format: 'iife',
  globalName: 'edgeFunction',
})
const runtime = new EdgeRuntime({
  initialCode: `${code}
addEventListener('fetch', (event) => event.respondWith(edgeFunction.default(event.request, event)))`,
  // Only `process.env` exists of `process`.
  extend: (context) => Object.assign(context, { process: { env: { ...process.env } } }),
})

const running = await serve({ fetch: dispatch }, { port: Number(port) })
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => running.close().then(() => process.exit(0)))
}

async function dispatch(request: Request): Promise<Response> {
  const { method, headers, body, signal } = request
  const response = await runtime.dispatchFetch(request.url, {
    method,
    headers: [...headers],
    body,
    signal,
    duplex: 'half',
  })
  // It is from another realm, so Node's own classes do not accept it.
  const { status, statusText } = response
  return new Response(response.body, { status, statusText, headers: [...response.headers] })
}

async function load<Module>(path: string): Promise<Module> {
  const module = (await import(pathToFileURL(path).href)) as { default?: Module } & Module
  return module.default ?? module
}
