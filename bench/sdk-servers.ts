/**
 * What a call costs of a server that is written with an SDK and served by `fromSdk`, beside the SDK's own handler: 53 tools of 25 fields,
 * whose schemas are at module scope.
 */
import { McpServer as McpServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js'
import { McpServer } from '@modelcontextprotocol/server'
import { fromSdk } from 'mayfly-mcp/sdk'
import { WrongAnswer } from './expect.ts'
import { type FetchHandler, SERVER_INFO } from './peers/peer.ts'
import { addTools as addToolsV1, sdkV1 } from './peers/sdk-v1.ts'
import { addTools, sdkV2 } from './peers/sdk-v2.ts'
import { CALL_ARGUMENTS, type Dialect, LEGACY, MODERN, template, toRequest } from './requests.ts'
import { echoTools, moreFields } from './tools.ts'

export interface SdkTiming {
  readonly name: string
  readonly era: string
  /** Microseconds of the processor for each call, one sample a round. */
  readonly samples: number[]
}

const FIELDS = 25
const TOOLS = echoTools(53, FIELDS)
const PARAMS = {
  name: TOOLS.at(-1)!.name,
  arguments: { ...CALL_ARGUMENTS, ...Object.fromEntries(moreFields(FIELDS).map((name) => [name, name])) },
}
const CALLS = 40

function servers(): readonly (readonly [name: string, dialect: Dialect, fetch: FetchHandler])[] {
  const v2 = fromSdk(() => {
    const server = new McpServer(SERVER_INFO)
    addTools(server, TOOLS)
    return server
  })
  const v1 = fromSdk(() => {
    const server = new McpServerV1(SERVER_INFO)
    addToolsV1(server, TOOLS)
    return server
  })
  return [
    ['SDK v2', MODERN, sdkV2.serve(TOOLS)],
    ['SDK v2 by fromSdk', MODERN, (request) => v2.fetch(request)],
    ['SDK v1', LEGACY, sdkV1.serve(TOOLS)],
    ['SDK v1 by fromSdk', LEGACY, (request) => v1.fetch(request)],
  ]
}

/** @throws WrongAnswer */
export async function measureSdkServers(rounds: number): Promise<readonly SdkTiming[]> {
  const all = servers().map(([name, dialect, fetch]) => ({
    timing: { name, era: dialect.era, samples: [] as number[] },
    call: () => callOnce(fetch, dialect),
  }))
  for (const { call } of all) for (let i = 0; i < CALLS; i++) await call()
  for (let round = 0; round < rounds; round++) {
    for (const { timing, call } of all) {
      globalThis.gc?.({ type: 'minor', execution: 'sync' })
      const start = process.cpuUsage()
      for (let i = 0; i < CALLS; i++) await call()
      const { user, system } = process.cpuUsage(start)
      timing.samples.push((user + system) / CALLS)
    }
  }
  return all.map(({ timing }) => timing)
}

async function callOnce(fetch: FetchHandler, dialect: Dialect): Promise<void> {
  const response = await fetch(toRequest(template(dialect, 'tools/call', PARAMS)))
  const text = await response.text()
  if (response.status !== 200 || !text.includes(`"text":"${CALL_ARGUMENTS.text}"`))
    throw new WrongAnswer(`status ${response.status}: ${text}`)
}
