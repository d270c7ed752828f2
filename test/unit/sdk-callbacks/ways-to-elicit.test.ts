/** The ways in which tools written for an SDK ask with parameters as on the wire. */
import { expect, it } from 'vitest'
import * as z from 'zod'
import { createTool } from '../../../src/sdk-context.ts'
import { callTool, createServer, META, textOf } from '../_client.ts'

it('elicitInput, mcpReq.elicitInput and sendRequest ask alike; notSecret counts', async () => {
  const params = {
    message: 'Which?',
    requestedSchema: { type: 'object' as const, properties: { access_token: { type: 'string' } } },
  }
  const options = { notSecret: ['access_token'] }
  const asking = createTool({
    id: 'asking',
    inputSchema: z.object({ way: z.number() }),
    execute: ({ way }, ctx) =>
      [
        () => ctx.elicitInput!(params, options),
        () => ctx.elicit(params, options),
        () => ctx.mcpReq.elicitInput(params, options),
        () => ctx.sendRequest({ method: 'elicitation/create', params }, z.any(), options),
        () => ctx.elicitInput!(params),
      ][way]!(),
  })
  const meta = { [META.clientCapabilities]: { elicitation: { form: {} } } }
  const server = createServer({ tools: { asking } })
  for (const way of [0, 1, 2, 3]) {
    const { result } = await callTool(server, 'asking', { way }, { meta })
    expect(Object.values(result?.inputRequests as object)).toEqual([
      { method: 'elicitation/create', params: { mode: 'form', ...params } },
    ])
  }
  expect(textOf(await callTool(server, 'asking', { way: 4 }, { meta }))).toContain('looks like a secret')
})
