/** Who is measured: what each serves, where it runs, and how it is spoken to. */
import { type Dialect, type Era, LEGACY, MODERN } from '../requests.ts'
import type { Offer } from './cases.ts'
import type { Runtime, Serving } from './subject.ts'

export interface Contender {
  readonly name: string
  /** The first is the one of the newest revision that it knows. */
  readonly dialects: readonly Dialect[]
  /** Ten echo tools, or as many as are asked for. */
  readonly tools: Serving
  /** The same and more, for the cases that need it; undefined where nobody wrote it. */
  readonly features?: Serving
  /** The tools for the bearer of a token. */
  readonly auth?: Serving
  /** Where the tools are served in another way. */
  readonly on?: { readonly [runtime in Runtime]?: Serving }
  /** The one runtime that it is about. */
  readonly only?: Runtime
  /** Where it does not run, and why. */
  readonly notOn?: { readonly [runtime in Runtime]?: string }
}

/** mcp-lite knows no newer revision, and is fastest when it is asked for JSON alone. */
const LITE: Dialect = { ...LEGACY, protocolVersion: '2025-06-18', accept: 'application/json' }

const fetchHandler = (module: string, expression: string, handler?: 'handler'): Serving => ({
  ...{ kind: 'fetch', module, expression },
  ...(handler !== undefined && { handler }),
})
const lambdaHandler = (module: string, expression: string): Serving => ({
  kind: 'lambda',
  module,
  expression,
})
const ownServer = (options: string, handler?: 'handler'): Serving => ({
  kind: 'server',
  module: 'peers/mayfly.ts',
  expression: `exports.createServer(tools, ${options})`,
  ...(handler !== undefined && { handler }),
})

const ownFeatures = (expression: string): Serving => ({
  kind: 'server',
  module: 'features/mayfly.ts',
  expression,
})

const ASYNC_HOOKS =
  'it needs node:async_hooks, which the package edge-runtime has not (Vercel’s platform has)'
const FILES = 'it needs Node’s fs and path, which this runtime has not'
const LISTENS = 'it listens by itself with Node’s http server; fastmcp/edge is its edition for such platforms'
const COMPILED = 'its compiler makes a program for Node; what it makes for other platforms is not measured'

const framework = (file: string): Serving => fetchHandler(`frameworks/${file}`, 'exports.serve(tools)')

export const CONTENDERS: readonly Contender[] = [
  {
    name: 'floor',
    dialects: [MODERN, LEGACY],
    tools: fetchHandler('peers/floor.ts', 'exports.serveList(() => list)'),
    features: fetchHandler('features/floor.ts', 'exports.serveFeatures()'),
    auth: fetchHandler('features/floor.ts', 'exports.serveAuth(keys)'),
    on: { lambda: lambdaHandler('peers/floor.ts', 'exports.streamingLambdaFloor(() => list)') },
  },
  {
    name: 'mcp-lite',
    dialects: [LITE],
    tools: fetchHandler('peers/mcp-lite.ts', 'exports.mcpLite.serve(tools)'),
    features: fetchHandler('features/mcp-lite.ts', 'exports.serveFeatures(tools)'),
  },
  {
    name: 'mayfly',
    dialects: [MODERN, LEGACY],
    tools: ownServer('{ log: false }'),
    features: ownFeatures('exports.createFeatures(tools)'),
    auth: ownFeatures('exports.createAuth(tools, keys)'),
  },
  { name: 'mayfly (default log)', dialects: [MODERN, LEGACY], tools: ownServer('{}') },
  { name: 'mayfly (log of all)', dialects: [MODERN, LEGACY], tools: ownServer(`{ log: 'all' }`) },
  // Behind a Function URL that streams, as `mayfly build` deploys it, all stream. These do not: it costs less, and no progress arrives.
  {
    name: 'floor (buffered)',
    dialects: [MODERN, LEGACY],
    tools: lambdaHandler('peers/floor.ts', 'exports.lambdaFloor(() => list)'),
    only: 'lambda',
  },
  {
    name: 'mcp-lite (buffered)',
    dialects: [LITE],
    tools: fetchHandler('peers/mcp-lite.ts', 'exports.mcpLite.serve(tools)', 'handler'),
    only: 'lambda',
  },
  {
    name: 'mayfly (buffered)',
    dialects: [MODERN, LEGACY],
    tools: ownServer('{ log: false }', 'handler'),
    only: 'lambda',
  },
  {
    name: 'SDK v2',
    dialects: [MODERN, LEGACY],
    tools: fetchHandler('peers/sdk-v2.ts', 'exports.sdkV2.serve(tools)'),
    features: fetchHandler('features/sdk-v2.ts', 'exports.serveFeatures(tools)'),
    auth: fetchHandler('features/sdk-v2.ts', 'exports.serveAuth(tools, keys)'),
  },
  {
    name: 'SDK v2 (buffered)',
    dialects: [MODERN, LEGACY],
    tools: fetchHandler('peers/sdk-v2.ts', 'exports.sdkV2.serve(tools)', 'handler'),
    only: 'lambda',
  },
  {
    name: 'SDK v1',
    dialects: [LEGACY],
    tools: fetchHandler('peers/sdk-v1.ts', 'exports.sdkV1.serve(tools)'),
    features: fetchHandler('features/sdk-v1.ts', 'exports.serveFeatures(tools)'),
  },
  {
    name: 'tmcp',
    dialects: [MODERN, LEGACY],
    tools: framework('tmcp.ts'),
    notOn: { 'edge-runtime': ASYNC_HOOKS },
  },
  { name: 'mcp-handler', dialects: [MODERN, LEGACY], tools: framework('mcp-handler.ts') },
  { name: '@hono/mcp', dialects: [LEGACY], tools: framework('hono-mcp.ts') },
  {
    name: 'mcp-use',
    dialects: [MODERN, LEGACY],
    tools: fetchHandler('frameworks/mcp-use.ts', 'exports.serve(tools, { enabled: false })'),
    notOn: { 'edge-runtime': FILES },
  },
  {
    name: 'mcp-use (default log)',
    dialects: [MODERN, LEGACY],
    tools: framework('mcp-use.ts'),
    notOn: { 'edge-runtime': FILES },
  },
  {
    name: 'fastmcp',
    dialects: [LEGACY],
    tools: { kind: 'listener', module: 'frameworks/fastmcp.ts', expression: 'exports.listen(tools, port)' },
    notOn: { workerd: LISTENS, lambda: LISTENS, 'edge-runtime': LISTENS },
  },
  { name: 'fastmcp/edge', dialects: [LEGACY], tools: framework('fastmcp-edge.ts') },
  {
    name: 'xmcp',
    dialects: [LEGACY],
    tools: { kind: 'xmcp' },
    notOn: { workerd: COMPILED, deno: COMPILED, bun: COMPILED, lambda: COMPILED, 'edge-runtime': COMPILED },
  },
  {
    name: 'agents',
    dialects: [MODERN, LEGACY],
    tools: framework('agents.ts'),
    notOn: { 'edge-runtime': ASYNC_HOOKS },
  },
]

/** How it is served; or why it is not, where that is to be told. */
export function servingOf(
  contender: Contender,
  runtime: Runtime,
  offer: Offer,
): Serving | string | undefined {
  if (contender.only !== undefined && contender.only !== runtime) return undefined
  const reason = contender.notOn?.[runtime]
  if (reason !== undefined) return offer === 'tools' ? reason : undefined
  return offer === 'tools' ? (contender.on?.[runtime] ?? contender.tools) : contender[offer]
}

/** How a contender is spoken to in an era, or undefined. */
export function dialectOf({ dialects }: Contender, era: Era): Dialect | undefined {
  return dialects.find((dialect) => dialect.era === era)
}
