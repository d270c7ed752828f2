/**
 * What a request costs over HTTP on the real runtimes: all subjects of a runtime side by side, in short interleaved rounds, each
 * answer checked.
 */
import { isDeepStrictEqual } from 'node:util'
import { CALL_ARGUMENTS, callTemplate, type Dialect, LEGACY, MODERN } from '../requests.ts'
import { cpuMicrosecondsOf, createClient, residentBytesOf } from './load.ts'
import { type Runtime, type Subject, startServer } from './servers.ts'

export interface RuntimeTiming {
  readonly runtime: Runtime
  readonly name: string
  /** Microseconds of the processor's time per request, one sample a round. */
  readonly samples: readonly number[]
  /** Bytes in memory at the end. */
  readonly residentBytes: number
}

export interface Contender extends Subject {
  readonly dialect: Dialect
}

export interface RuntimeSettings {
  readonly rounds: number
  /** Requests of one subject in one round. */
  readonly requests: number
  readonly warmUp: number
  readonly toolCount: number
}

const LITE: Dialect = { ...LEGACY, protocolVersion: '2025-06-18', accept: 'application/json' }

export const CONTENDERS: readonly Contender[] = [
  {
    name: 'floor',
    module: 'floor.ts',
    handler: 'exports.floor().serve(tools)',
    dialect: MODERN,
  },
  {
    name: 'mcp-lite',
    module: 'mcp-lite.ts',
    handler: 'exports.mcpLite.serve(tools)',
    dialect: LITE,
  },
  {
    name: 'mayfly',
    module: 'mayfly.ts',
    handler: '',
    server: 'exports.createServer(tools, { log: false })',
    dialect: MODERN,
  },
  {
    name: 'mayfly, default log',
    module: 'mayfly.ts',
    handler: '',
    server: 'exports.createServer(tools, {})',
    dialect: MODERN,
  },
  {
    name: 'SDK v2',
    module: 'sdk-v2.ts',
    handler: 'exports.sdkV2.serve(tools)',
    dialect: MODERN,
  },
]

/** @throws Error at the first wrong answer. */
export async function measureRuntime(
  runtime: Runtime,
  contenders: readonly Contender[],
  settings: RuntimeSettings,
  folder: string,
): Promise<readonly RuntimeTiming[]> {
  const running = []
  try {
    for (const contender of contenders) {
      const server = await startServer(runtime, contender, settings.toolCount, folder)
      const template = callTemplate(contender.dialect, `echo_${settings.toolCount - 1}`)
      const client = createClient(server.url, template, (status, text) =>
        expectEcho(contender.name, status, text),
      )
      running.push({ contender, server, client, samples: [] as number[] })
    }
    for (const { client } of running) await client.send(settings.warmUp)
    for (let round = 0; round < settings.rounds; round++) {
      for (const { server, client, samples } of running) {
        const before = cpuMicrosecondsOf(server.pid)
        await client.send(settings.requests)
        samples.push((cpuMicrosecondsOf(server.pid) - before) / settings.requests)
      }
    }
    return running.map(({ contender, server, samples }) => ({
      runtime,
      name: contender.name,
      samples,
      residentBytes: residentBytesOf(server.pid),
    }))
  } finally {
    for (const { client } of running) client.close()
    await Promise.all(running.map(({ server }) => server.stop()))
  }
}

function expectEcho(name: string, status: number, text: string): void {
  const data = text.startsWith('{') ? text : (/^data: (.*)$/m.exec(text)?.[1] ?? '{}')
  const { result } = JSON.parse(data) as { result?: { content?: unknown } }
  if (status === 200 && isDeepStrictEqual(result?.content, [{ type: 'text', text: CALL_ARGUMENTS.text }]))
    return
  throw new Error(`A wrong answer from ${name}, status ${status}: ${text.slice(0, 400)}`)
}
