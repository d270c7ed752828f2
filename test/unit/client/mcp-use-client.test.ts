/** The client for code of mcp-use: what happens to a connection that is closed while it opens. */
import { expect, it, onTestFinished } from 'vitest'
import { MCPClient } from '../../../src/mcp-use-client.ts'
import { listen, startMayfly } from './_servers.ts'

it('a connection that is begun after an unfinished one was closed is kept, and closed with the client', async () => {
  const good = await startMayfly()
  let isHanging = true
  const url = await listen(async (request, response) => {
    if (isHanging) return void request.resume()
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const headers = Object.entries(request.headers).filter(([name]) =>
      /^(?:accept|content-type|mcp-)/.test(name),
    )
    const answer = await fetch(good, {
      method: request.method!,
      headers: Object.fromEntries(headers) as Record<string, string>,
      ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
    })
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' })
    response.end(Buffer.from(await answer.arrayBuffer()))
  })
  const client = new MCPClient({ mcpServers: { demo: { url } } })
  onTestFinished(() => client.close())
  const first = client.connect('demo').catch(() => 'ended')
  const closed = client.closeSession('demo')
  isHanging = false
  const second = await client.connect('demo')

  expect(await first).toBe('ended')
  await closed
  expect(client.getSession('demo')).toBe(second)
  await client.close()
  await expect(second.listTools()).rejects.toMatchObject({ code: 'DISCONNECTED' })
})
