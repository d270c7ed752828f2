/** Writes the program that a runtime runs: the subject, and what serves it there, in the files that `mayfly build` would write. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as esbuild from 'esbuild'
import { type Bundle, splitBundle } from '../../deploy/build/split.ts'
import { listOf } from '../peers/floor.ts'
import { echoTools } from '../tools.ts'
import type { Issuer } from './issuer.ts'
import type { Expressed, Fixture, Runtime } from './subject.ts'

export const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const BENCH = join(ROOT, 'bench')
export const FRAMEWORKS = join(BENCH, 'frameworks')

export interface EntryOptions {
  readonly runtime: Runtime
  readonly serving: Expressed
  readonly fixture: Fixture
  readonly port: number
  readonly outfile: string
  /** Default: nobody's. */
  readonly keys?: Issuer['keys']
  /** Default true. */
  readonly minify?: boolean
}

/** Returns the paths of the files that were written beside `outfile`. */
export async function writeEntry({
  runtime,
  serving,
  fixture,
  port,
  outfile,
  keys = { keys: [] },
  minify = true,
}: EntryOptions): Promise<string[]> {
  const [imported, run] = served(runtime, serving)
  const contents = [
    imported,
    `import * as exports from ${JSON.stringify(join(BENCH, serving.module))}`,
    ...toolsFor(serving, fixture),
    `const keys = ${JSON.stringify(keys)}`,
    `const port = ${port}`,
    ...(serving.kind === 'listener' ? [] : [`const served = ${serving.expression}`]),
    run,
  ].join('\n')
  return bundle(runtime, { contents, outfile, minify, isFramework: serving.module.startsWith('frameworks/') })
}

/** Only what the expression names: the tools bring zod along. */
function toolsFor({ expression }: Expressed, { toolCount, fieldCount }: Fixture): readonly string[] {
  if (/\blist\b/.test(expression)) {
    return [`const list = ${JSON.stringify(listOf(echoTools(toolCount, fieldCount)))}`]
  }
  if (!/\btools\b/.test(expression)) return []
  return [
    `import { echoTools } from ${JSON.stringify(join(BENCH, 'tools.ts'))}`,
    `const tools = echoTools(${toolCount}, ${fieldCount})`,
  ]
}

/** An import, and the statement that serves. */
function served(runtime: Runtime, serving: Expressed): readonly [string, string] {
  switch (serving.kind) {
    case 'fetch':
      return fetchHandler(runtime, serving.handler)
    case 'server':
      return ownServer(runtime, serving.handler)
    case 'listener':
      return ['', `await ${serving.expression}`]
    case 'lambda':
      return ['', 'export const handler = served']
  }
}

const LISTEN = `port, hostname: '127.0.0.1'`

function fetchHandler(runtime: Runtime, handler = 'streamingHandler'): readonly [string, string] {
  switch (runtime) {
    case 'workerd':
      return ['', 'export default { fetch: (request, env, ctx) => served(request, env, ctx) }']
    case 'Node':
      return [
        `import { serve } from '@hono/node-server'`,
        `serve({ fetch: (request) => served(request), ${LISTEN} })`,
      ]
    case 'deno':
      return ['', `Deno.serve({ ${LISTEN}, onListen() {} }, (request) => served(request))`]
    case 'bun':
      return ['', `Bun.serve({ ${LISTEN}, fetch: (request) => served(request) })`]
    case 'lambda': {
      const wrap = handler === 'handler' ? 'handle' : 'streamHandle'
      return [
        `import { Hono } from 'hono'\nimport { ${wrap} } from 'hono/aws-lambda'`,
        `export const handler = ${wrap}(new Hono().all('*', (context) => served(context.req.raw)))`,
      ]
    }
    case 'edge-runtime':
      return ['', `addEventListener('fetch', (event) => event.respondWith(served(event.request)))`]
  }
}

function ownServer(runtime: Runtime, handler = 'streamingHandler'): readonly [string, string] {
  const adapter = (name: string): string => JSON.stringify(join(ROOT, `dist/adapters/${name}.js`))
  switch (runtime) {
    case 'workerd':
      return ['', 'export default served']
    case 'Node':
    case 'bun':
      return [`import { serve } from ${adapter(runtime.toLowerCase())}`, `await serve(served, { ${LISTEN} })`]
    case 'deno':
      return [
        `import { deno } from ${adapter('deno')}`,
        `Deno.serve({ ${LISTEN}, onListen() {} }, deno(served, { hostname: '127.0.0.1' }))`,
      ]
    case 'lambda': {
      const wrap = handler === 'handler' ? 'lambda' : 'streamingLambda'
      return [`import { ${wrap} } from ${adapter('lambda')}`, `export const handler = ${wrap}(served)`]
    }
    case 'edge-runtime':
      return [
        `import { vercel } from ${adapter('vercel')}`,
        `const { fetch: handle } = vercel(served)
addEventListener('fetch', (event) => event.respondWith(handle(event.request, event)))`,
      ]
  }
}

const CONDITIONS: { readonly [runtime in Runtime]: readonly string[] } = {
  workerd: ['workerd', 'worker', 'browser'],
  'edge-runtime': ['edge-light', 'worker', 'browser'],
  deno: ['deno', 'node'],
  Node: ['node'],
  bun: ['node'],
  lambda: ['node'],
}

/** Packages in CommonJS ask for Node's own modules by it. */
const REQUIRE = `import { createRequire as __require } from 'node:module'; const require = __require(import.meta.url);`

/** Bun then does not parse it twice; `mayfly build` and `bun build` write it, too. */
const BUNDLED = '// @bun\n'

/** Packages that frameworks import only when they are asked for what needs them. */
const NOT_INSTALLED = ['@mcp-use/client', 'effect', 'sury', '@valibot/to-json-schema']

/** workerd has Node's modules by their full names alone; wrangler does the same. */
const prefixBuiltins: esbuild.Plugin = {
  name: 'prefix-builtins',
  setup({ onResolve }) {
    onResolve({ filter: /^[a-z][a-z0-9_/]*$/ }, ({ path }) =>
      isBuiltin(path) ? { path: `node:${path}`, external: true } : undefined,
    )
  },
}

interface Source {
  readonly contents: string
  readonly outfile: string
  readonly minify: boolean
  readonly isFramework: boolean
}

/** Where `mayfly build` writes what is loaded later beside the program. */
const SPLIT: readonly Runtime[] = ['Node', 'deno', 'bun', 'lambda']

async function bundle(
  runtime: Runtime,
  { contents, outfile, minify, isFramework }: Source,
): Promise<string[]> {
  const hasNode = !['workerd', 'edge-runtime'].includes(runtime)
  const options = {
    stdin: { contents, resolveDir: ROOT, loader: 'js' },
    absWorkingDir: ROOT,
    outfile,
    bundle: true,
    minify,
    // The edge-runtime runs scripts; the others run modules.
    format: runtime === 'edge-runtime' ? 'iife' : 'esm',
    platform: hasNode ? 'node' : 'browser',
    target: 'es2024',
    conditions: [...CONDITIONS[runtime]],
    // As `mayfly build` has it: packages select their production code by this variable.
    define: { 'process.env.NODE_ENV': '"production"' },
    external: ['node:*', 'cloudflare:*', ...(isFramework ? NOT_INSTALLED : [])],
    // One zod in the file, as in a project of that framework's users.
    ...(isFramework && { alias: { zod: join(FRAMEWORKS, 'node_modules/zod') } }),
    ...(hasNode && { banner: { js: `${runtime === 'bun' ? BUNDLED : ''}${REQUIRE}` } }),
    ...(runtime === 'workerd' && { plugins: [prefixBuiltins] }),
    logLevel: 'silent',
  } satisfies esbuild.BuildOptions
  const bundled: Bundle = (all) => esbuild.build({ ...all, write: false, metafile: true })
  const whole = await bundled(options)
  const parts = SPLIT.includes(runtime) ? await splitBundle(bundled, options, whole.metafile) : undefined
  const files = parts ?? whole.outputFiles
  mkdirSync(dirname(outfile), { recursive: true })
  for (const { path, contents: code } of files) writeFileSync(path, code)
  return files.map(({ path }) => path).filter((path) => path !== outfile)
}
