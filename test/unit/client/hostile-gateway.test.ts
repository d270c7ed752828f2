/** A server of one's own that serves on the tools of a strange one, as docs/client.md shows. */
import { expect, it } from 'vitest'
import type { ClientTool } from '../../../src/client.ts'
import { MCPServer } from '../../../src/index.ts'
import { MALFORMED, malformed, ODD_PARAMETERS } from '../../hostile/server/lists.ts'
import type { Era } from '../../hostile/server/server.ts'
import { answerOf, legacyRequest, modernRequest } from '../../property/_client.ts'
import { visit } from './_hostile.ts'

const ERAS: readonly Era[] = ['legacy', 'modern']

const createGateway = (tools: { readonly [name: string]: ClientTool }): MCPServer =>
  new MCPServer({ id: 'gate', name: 'Gate', version: '1.0.0', log: false, tools })

it.each(ERAS)('a gateway serves the good tools, whatever else a %s server lists', async (era) => {
  const { client } = await visit(malformed(era, Object.values(MALFORMED)))

  const gateway = createGateway(await client.listTools())

  for (const request of [legacyRequest, modernRequest]) {
    const listed = await answerOf(await gateway.fetch(request('tools/list')))
    expect(listed).toMatchObject({ status: 200, result: { tools: [{ name: 'evil_hello' }] } })
    expect(listed.result!.tools).toHaveLength(1)
    const called = await answerOf(
      await gateway.fetch(request('tools/call', { params: { name: 'evil_hello' } })),
    )
    expect(called).toMatchObject({ status: 200, result: { content: [{ text: 'Hello' }] } })
  }
})

it.each(Object.entries(ODD_PARAMETERS))(
  'the page of a gateway shows a tool whose parameter is no schema (%s)',
  async (_what, parameter) => {
    const inputSchema = { type: 'object', properties: { parameter } }
    const { client } = await visit(malformed('legacy', [{ name: 'odd', inputSchema }]))
    const gateway = createGateway(await client.listTools())

    const page = await gateway.fetch(
      new Request('https://gate.example/mcp', { headers: { accept: 'text/html' } }),
    )

    expect(page.status).toBe(200)
    expect(await page.text()).toContain('<code>parameter</code> <small>any</small>')
  },
)
