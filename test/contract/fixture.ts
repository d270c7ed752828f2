/**
 * The server every runtime serves for the contract. Tools observe and steer each other through module state, which a
 * server in earnest must never do: here it shows what one request did to a test that is another.
 */
import {
  type Bus,
  createMemoryBus,
  createPrompt,
  createResource,
  createTool,
  MCPServer,
  type McpContext,
} from 'mayfly-mcp'
import * as z from 'zod'

const running = new Set<string>()
const aborted = new Set<string>()
const finished = new Set<string>()
const released = new Map<string, number>()
let listeners = 0

const delay = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

/** Polled, not awaited: a promise that another request resolves is a thing of its own on workerd. */
async function until(claim: () => boolean): Promise<void> {
  for (const deadline = Date.now() + 20_000; !claim(); await delay(15)) {
    if (Date.now() > deadline) throw new Error('The other request never came.')
  }
}

const id = z.object({ id: z.string() })

/** Counts who listens, so that a test can see a subscription end. */
function countingBus(): Bus {
  const bus = createMemoryBus()
  return {
    publish: (event) => bus.publish(event),
    subscribe: async (listener) => {
      const unsubscribe = await bus.subscribe(listener)
      listeners++
      return () => {
        listeners--
        unsubscribe()
      }
    },
  }
}

/** Runs until its client goes away. */
function untilAborted({ signal }: McpContext, call: string): Promise<string> {
  running.add(call)
  signal.addEventListener('abort', () => aborted.add(call))
  return until(() => signal.aborted).then(() => 'aborted')
}

/** Vercel's edge has no navigator, and says what it is in a global of its own. */
function runtimeName(): string | undefined {
  const { navigator, EdgeRuntime } = globalThis as { navigator?: { userAgent: string }; EdgeRuntime?: string }
  return navigator?.userAgent ?? EdgeRuntime
}

const tools = {
  echo: createTool({
    id: 'echo',
    description: 'Says the same, after a while.',
    inputSchema: z.object({ text: z.string(), afterMs: z.number().default(0) }),
    execute: async ({ text, afterMs }) => {
      if (afterMs > 0) await delay(afterMs)
      return text
    },
  }),
  add: createTool({
    id: 'add',
    title: 'Add',
    description: 'Adds two numbers.',
    inputSchema: z.object({ a: z.number(), b: z.number() }),
    outputSchema: z.object({ sum: z.number() }),
    mcp: { annotations: { readOnlyHint: true } },
    execute: ({ a, b }) => ({ sum: a + b }),
  }),
  picture: createTool({
    id: 'picture',
    description: 'Shows a picture.',
    execute: () => ({ content: [{ type: 'image', data: 'R0lGODlhAQABAAAAADs=', mimeType: 'image/gif' }] }),
  }),
  fail: createTool({
    id: 'fail',
    description: 'Throws.',
    execute: () => {
      throw new Error('The pond is dry.')
    },
  }),
  /** Reports step after step, each once the step before was released: nothing can pass that is not streamed. */
  steps: createTool({
    id: 'steps',
    description: 'Reports progress, one step for each release.',
    inputSchema: z.object({ id: z.string(), steps: z.int() }),
    execute: async ({ id, steps }, ctx) => {
      for (let step = 1; step <= steps; step++) {
        ctx.reportProgress({ progress: step, total: steps, message: `step ${step}` })
        await until(() => (released.get(id) ?? 0) >= step)
      }
      return 'all steps done'
    },
  }),
  release: createTool({
    id: 'release',
    description: 'Lets a `steps` call go on.',
    inputSchema: z.object({ id: z.string(), step: z.int() }),
    execute: ({ id, step }) => {
      released.set(id, step)
      return 'released'
    },
  }),
  speak: createTool({
    id: 'speak',
    description: 'Logs at three levels.',
    execute: (_input, ctx) => {
      ctx.log('debug', 'a whisper')
      ctx.log('info', { said: 'a word' }, 'pond')
      ctx.log('warning', 'a shout')
      return 'spoken'
    },
  }),
  /** Runs until its client goes away, having said that it runs. */
  watch: createTool({
    id: 'watch',
    description: 'Reports progress once, and runs until it is aborted.',
    inputSchema: id,
    execute: ({ id }, ctx) => {
      ctx.reportProgress({ progress: 1 })
      return untilAborted(ctx, id)
    },
  }),
  wait: createTool({
    id: 'wait',
    description: 'Runs until it is aborted, without a word.',
    inputSchema: id,
    execute: ({ id }, ctx) => untilAborted(ctx, id),
  }),
  outlive: createTool({
    id: 'outlive',
    description: 'Answers at once, and goes on for a while.',
    inputSchema: id,
    execute: ({ id }, ctx) => {
      ctx.waitUntil(delay(100).then(() => finished.add(id)))
      return 'answered'
    },
  }),
  /** How it is noticed depends on the engine. */
  inside: createTool({
    id: 'inside',
    description: 'Asks inside a step, which is an error.',
    execute: (_input, ctx) =>
      ctx.step('book', async () => {
        await delay(1)
        return (await ctx.elicit('Sure?', z.object({ sure: z.boolean() }))).action
      }),
  }),
  observe: createTool({
    id: 'observe',
    description: 'What the other calls have come to.',
    execute: () => ({
      running: [...running],
      aborted: [...aborted],
      finished: [...finished],
      listeners,
    }),
  }),
  announce: createTool({
    id: 'announce',
    description: 'Tells those who listen that a resource has changed, or a list.',
    inputSchema: z.object({ change: z.union([z.enum(['tools', 'prompts', 'resources']), z.url()]) }),
    execute: async ({ change }) => {
      if (change === 'tools' || change === 'prompts' || change === 'resources')
        await server[change].notifyListChanged()
      else await server.resources.notifyUpdated({ uri: change })
      return 'announced'
    },
  }),
  whoami: createTool({
    id: 'whoami',
    description: 'What the server knows of its caller.',
    inputSchema: z.object({ region: z.string().optional().meta({ 'x-mcp-header': 'Region' }) }),
    execute: (_input, { era, protocolVersion, clientInfo, clientCapabilities, requestId, request }) => ({
      era,
      protocolVersion,
      clientInfo,
      clientCapabilities,
      requestId,
      regionHeader: request?.headers.get('mcp-param-region') ?? null,
      runtime: runtimeName(),
    }),
  }),
  guarded: createTool({
    id: 'guarded',
    description: 'For keepers alone.',
    enabled: false,
    execute: () => 'open',
  }),
}

/** The same server without a bus answers what is asked with `?without-bus`. */
class Contract extends MCPServer {
  override handle(...[request, platform]: Parameters<MCPServer['handle']>): Promise<Response> {
    if (!request.url.endsWith('?without-bus')) return super.handle(request, platform)
    // As on a platform that keeps no process: a long-lived one is its own bus.
    return withoutBus.handle(request, { ...platform, isLongLived: false })
  }

  override get leanHandle(): MCPServer['handle'] {
    return Contract.prototype.handle
  }
}

const server: MCPServer = new Contract({
  id: 'contract',
  name: 'Contract',
  version: '1.2.3',
  instructions: 'Ask the pond.',
  tools,
  resources: [
    createResource({ uri: 'pond://depth', name: 'depth', mimeType: 'text/plain', read: () => '2 m' }),
    createResource({
      uri: 'pond://map',
      name: 'map',
      mimeType: 'application/octet-stream',
      read: () => Uint8Array.of(0, 255, 7),
    }),
    createResource({
      uriTemplate: 'pond://fish/{name}',
      name: 'fish',
      mimeType: 'text/plain',
      complete: { name: (typed) => ['perch', 'pike', 'roach'].filter((name) => name.startsWith(typed)) },
      read: ({ variables }) => `A ${variables.name}`,
    }),
  ],
  prompts: {
    describe: createPrompt({
      description: 'Describes a fish.',
      argsSchema: z.object({ fish: z.string(), tone: z.string().optional() }),
      complete: { tone: (typed) => ['dry', 'wet'].filter((tone) => tone.startsWith(typed)) },
      get: ({ fish, tone = 'dry' }) => `Describe a ${fish} in a ${tone} tone.`,
    }),
  },
  setup: (requestServer, request) => {
    if (request.headers.get('x-keeper') === 'yes') requestServer.tool('guarded').enable()
  },
  bus: countingBus(),
  pageSize: 5,
  http: { streamAfterMs: 250, keepAliveMs: 100, maxBodyBytes: 100_000, maxListenMs: 5000 },
})

const withoutBus = new MCPServer({
  id: 'without-bus',
  name: 'Without a bus',
  version: '1.0.0',
  tools: { speak: tools.speak },
  resources: [createResource({ uri: 'pond://depth', name: 'depth', read: () => '2 m' })],
})

export default server
