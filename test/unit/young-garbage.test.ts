/** What a call leaves behind, a young collection removes: garbage that waits for a full one costs more time than the call itself. */

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { bearer } from '../../src/auth.ts'
import { createTool, type MCPServerConfig } from '../../src/index.ts'
import { createTool as createMastraTool } from '../../src/mastra.ts'
import { createTool as createSdkTool } from '../../src/sdk-context.ts'
import { createServer, legacyRequest, modernRequest } from './_client.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as (options: { type: 'minor' }) => void

const WARM_UP = 3000
const CALLS = 4000

/** Bytes a call: with a hidden class of its own, it left 3000. Code that is compiled late is in the figure, too. */
const MOST = 1000

const tools = {
  plain: createTool({ id: 'plain', execute: async () => 'done' }),
  step: createTool({
    id: 'step',
    execute: (_, ctx) => ctx.step('one', ({ idempotencyKey }) => idempotencyKey),
  }),
  reader: createTool({ id: 'reader', execute: async (_, ctx) => [ctx.signal.aborted, ctx.request?.method] }),
  mastra: createMastraTool({ id: 'mastra', execute: async (_, ctx) => ctx.mcp === undefined }),
  sdk: createSdkTool({ id: 'sdk', execute: async (_, ctx) => ctx.mcpReq === undefined }),
}

const auth = bearer((_, { request }) => ({ clientId: request.method, scopes: [] }))

async function leftByCall(
  config: Pick<MCPServerConfig, 'auth' | 'setup' | 'log'>,
  request: () => Request,
): Promise<number> {
  const server = createServer({ tools, log: false, ...config })
  const serve = async (times: number): Promise<void> => {
    for (let time = 0; time < times; time++) {
      const response = await server.fetch(request())
      expect(response.status).toBe(200)
      await response.text()
    }
    for (let time = 0; time < 3; time++) collect({ type: 'minor' })
  }
  await serve(WARM_UP)
  const before = process.memoryUsage().heapUsed
  await serve(CALLS)
  return (process.memoryUsage().heapUsed - before) / CALLS
}

type Config = Parameters<typeof leftByCall>[0]

const call = (name: string, headers: Record<string, string> = {}) =>
  modernRequest('tools/call', { name }, { headers })

const CASES: readonly (readonly [name: string, config: Config, request: () => Request])[] = [
  ['a modern call', {}, () => call('plain')],
  ['a legacy call', {}, () => legacyRequest('tools/call', { name: 'plain' })],
  ['a call of a tool that reads its context', {}, () => call('reader')],
  ['a call of a tool written for Mastra', {}, () => call('mastra')],
  ['a call of a tool written for an SDK', {}, () => call('sdk')],
  ['a call with a step', {}, () => call('step')],
  ['a call with a token', { auth }, () => call('plain', { authorization: 'Bearer token' })],
  ['a call with setup', { setup: (server) => void server.tool('step').disable() }, () => call('plain')],
  ['a call that is logged', { log: () => {} }, () => call('plain')],
  ['a list', {}, () => modernRequest('tools/list')],
]

it.each(CASES)('%s', async (_, config, request) => {
  expect(await leftByCall(config, request)).toBeLessThan(MOST)
})
