/**
 * `npm run sizes`: what each entry point and each feature adds to a bundle, and how much of one a Worker loads before it answers a call,
 * beside its budget in bench/size-budgets.json. With
 * `-- --write` today's sizes become the budgets, and the table of docs/performance.md is written: growing is a decision.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join, relative } from 'node:path'
import { gzipSync } from 'node:zlib'
import { type BuildOptions, build, type Plugin } from 'esbuild'
import { filesAtStart } from '../deploy/build/module-order.ts'
import manifest from '../package.json' with { type: 'json' }
import { withMarked } from './marked.ts'

const ROOT = join(import.meta.dirname, '..')
const BUDGETS = join(ROOT, 'bench/size-budgets.json')
const PAGE = join(ROOT, 'docs/performance.md')

/** KB (1000 bytes), minified and gzipped, to one decimal. */
export type Sizes = { readonly [name: string]: number }

export interface SizeReport {
  /** By entry point, all that it exports. */
  readonly entries: Sizes
  /** By feature, a Worker that uses it; the first is a server with one tool and nothing else. */
  readonly features: Sizes
  /** By schema library, what a server with one tool loads to answer a call, if its bundle is split: the other chunks are loaded later. */
  readonly loaded: Sizes
}

const SERVER = `import { createTool, jsonSchema, MCPServer } from 'mayfly-mcp'`
const worker = (tool: string, options = '', imports = ''): string => `${SERVER}
${imports}
export default new MCPServer({ id: 'x', name: 'X', version: '1', ${options}
  tools: { one: createTool({ id: 'one', ${tool} execute: () => '' }) } })`

const FEATURES: { readonly [name: string]: string } = {
  'one tool without arguments': worker(''),
  'arguments by `jsonSchema()`': worker(`inputSchema: jsonSchema({ type: 'object' }),`),
  'arguments by zod': worker('inputSchema: z.object({ text: z.string() }),', '', `import * as z from 'zod'`),
  'auth by `staticTokens`': worker(
    '',
    `auth: staticTokens({ 'a-token-of-thirty-two-characters': {} }),`,
    `import { staticTokens } from 'mayfly-mcp/auth'`,
  ),
  'auth by `jwt`': worker(
    '',
    `auth: jwt({ issuer: 'https://issuer.example' }),`,
    `import { jwt } from 'mayfly-mcp/auth'`,
  ),
  'sign-in by `oidc`': worker(
    '',
    `auth: signIn({ upstream: oidc({ issuer: 'https://issuer.example', clientId: 'a', clientSecret: 'b' }),
      store: createMemoryGrants(), scopes: {} }),`,
    `import { createMemoryGrants, oidc, signIn } from 'mayfly-mcp/sign-in'`,
  ),
  'change notifications in one process': worker(
    '',
    'bus: createMemoryBus(),',
    `import { createMemoryBus } from 'mayfly-mcp'`,
  ),
  'a rate limit in one process': worker(
    '',
    'http: { rateLimiter: createMemoryRateLimiter({ limit: 60 }) },',
    `import { createMemoryRateLimiter } from 'mayfly-mcp'`,
  ),
  'spans (`mayfly-mcp/otel`, without OpenTelemetry)': worker(
    '',
    'telemetry: openTelemetry(),',
    `import { openTelemetry } from 'mayfly-mcp/otel'`,
  ),
}

/** One tool, with the libraries that describe its arguments. */
const LOADED: { readonly [name: string]: string } = {
  'without a schema library': FEATURES['one tool without arguments']!,
  zod: FEATURES['arguments by zod']!,
  '`zod/mini`': FEATURES['arguments by zod']!.replace("'zod'", "'zod/mini'"),
  valibot: worker(
    'inputSchema: toStandardJsonSchema(v.object({ text: v.string() })),',
    '',
    `import { toStandardJsonSchema } from '@valibot/to-json-schema'
    import * as v from 'valibot'`,
  ),
  arktype: worker(`inputSchema: type({ text: 'string' }),`, '', `import { type } from 'arktype'`),
}

/**
 * Bundles everything, as a Worker is; packages other than our own dependencies, and Node's modules, are left out.
 *
 * @param from `src`, or `dist` for what was built last
 */
export async function measureSizes(from: 'src' | 'dist' = 'src'): Promise<SizeReport> {
  const own = ownEntries(from)
  const sizeOf = async (source: string): Promise<number> => toKilobytes(await bundledBytes(source, [own]))
  const entries = Object.keys(manifest.exports).filter((entry) => entry !== './package.json')
  const bySource = async (sources: readonly (readonly [string, string])[]): Promise<Sizes> =>
    Object.fromEntries(await Promise.all(sources.map(async ([name, source]) => [name, await sizeOf(source)])))
  return {
    entries: await bySource(
      entries.map((entry) => [nameOf(entry), `export * from ${JSON.stringify(nameOf(entry))}`]),
    ),
    features: await bySource(Object.entries(FEATURES)),
    loaded: Object.fromEntries(
      await Promise.all(
        Object.entries(LOADED).map(async ([name, source]) => [
          name,
          toKilobytes((await loadedChunks(source, from)).bytes),
        ]),
      ),
    ),
  }
}

export function readBudgets(): SizeReport {
  return JSON.parse(readFileSync(BUDGETS, 'utf8')) as SizeReport
}

function nameOf(entry: string): string {
  return entry.replace('.', 'mayfly-mcp')
}

function toKilobytes(bytes: number): number {
  return Math.round(bytes / 100) / 10
}

/** Bytes, gzipped, of a Worker of this source. */
export async function bundledBytes(contents: string, plugins: Plugin[] = []): Promise<number> {
  const { outputFiles } = await build({ ...options(contents), plugins })
  return gzipSync(outputFiles[0]!.contents, { level: 9 }).length
}

const options = (contents: string): Omit<BuildOptions, 'metafile' | 'write'> & { readonly write: false } => ({
  stdin: { contents, resolveDir: ROOT, loader: 'ts' },
  bundle: true,
  write: false,
  minify: true,
  format: 'esm',
  target: 'es2024',
  conditions: ['workerd', 'worker', 'browser'],
  legalComments: 'none',
  logLevel: 'error',
})

/** What a Worker of this source loads before its first request, if its bundle is split: all that no `import()` stands before. */
export async function loadedChunks(
  contents: string,
  from: 'src' | 'dist' = 'src',
): Promise<{
  /** Minified, and gzipped together. */
  readonly bytes: number
  /** The modules of this repository in it, as paths from its root. */
  readonly modules: readonly string[]
}> {
  const { outputFiles, metafile } = await build({
    ...options(contents),
    plugins: [ownEntries(from)],
    splitting: true,
    metafile: true,
    outdir: ROOT,
  })
  const { outputs } = metafile
  const loaded = filesAtStart(metafile, '<stdin>')
  const chunks = outputFiles.filter(({ path }) => loaded.includes(relative(process.cwd(), path)))
  const inputs = loaded.flatMap((path) => Object.entries(outputs[path]?.inputs ?? {}))
  return {
    bytes: gzipSync(Buffer.concat(chunks.map(({ contents }) => contents)), { level: 9 }).length,
    modules: inputs
      .filter(([path, { bytesInOutput }]) => bytesInOutput > 0 && !path.includes('node_modules'))
      .map(([path]) => relative(ROOT, path)),
  }
}

const SCHEMA_LIBRARIES = [
  'zod',
  'valibot',
  '@valibot/to-json-schema',
  'arktype',
  '@ark/schema',
  '@ark/util',
  'arkregex',
]

/** What the build puts into the package. */
const BUNDLED = ['@cloudflare/workers-oauth-provider', 'oauth4webapi']

/** What a user brings is not counted, but for the schema library of an example. */
const ownEntries = (from: 'src' | 'dist'): Plugin => ({
  name: 'mayfly-entries',
  setup({ onResolve }) {
    const bundled = [...SCHEMA_LIBRARIES, ...BUNDLED, ...Object.keys(manifest.dependencies)]
    onResolve({ filter: /^[^./]/ }, ({ path }) => {
      const entry = path.replace('mayfly-mcp', '.')
      if (entry in manifest.exports) {
        const files: { readonly default: string; readonly workerd?: string } =
          manifest.exports[entry as './auth']
        const { workerd: built = files.default } = files
        return { path: join(ROOT, from === 'dist' ? built : sourceOf(built)) }
      }
      const isOurs = !isBuiltin(path) && bundled.some((name) => path === name || path.startsWith(`${name}/`))
      return isOurs ? undefined : { path, external: true }
    })
  },
})

function sourceOf(built: string): string {
  return built.replace('./dist/', '').replace(/\.js$/, '.ts')
}

/** docs/performance.md as it is on disk, and as it should be for these sizes. */
export function performancePage({ features }: SizeReport): { written: string; rendered: string } {
  const written = readFileSync(PAGE, 'utf8')
  const [base = 0] = Object.values(features)
  const featureRows = Object.entries(features).map(
    ([name, size], index) =>
      `| ${name} | ${index === 0 ? size.toFixed(1) : `+ ${(size - base).toFixed(1)}`} |`,
  )
  const table = ['| a Worker with | KB |', '|---|---|', ...featureRows].join('\n')
  return { written, rendered: withMarked(written, 'sizes:features', table) }
}

if (import.meta.main) {
  const sizes = await measureSizes()
  if (process.argv.includes('--write')) {
    writeFileSync(BUDGETS, `${JSON.stringify(sizes, undefined, 2)}\n`)
    writeFileSync(PAGE, performancePage(sizes).rendered)
  }
  const budgets = readBudgets()
  const titles = { loaded: 'loaded for one call', features: 'whole bundle', entries: 'entry points' } as const
  for (const kind of ['loaded', 'features', 'entries'] as const) {
    console.log(`${titles[kind]}:`)
    for (const [name, size] of Object.entries(sizes[kind]))
      console.log(
        `${size.toFixed(1).padStart(6)} KB  of ${budgets[kind]?.[name]?.toFixed(1) ?? '-'}  ${name}`,
      )
  }
}
