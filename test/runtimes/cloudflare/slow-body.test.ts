/** On workerd, whose timers end with the request that set them: a body that stops is refused in time, and what comes after it is served. */
import { connect } from 'node:net'
import { expect, it } from 'vitest'
import { startWorkerd, urlOf } from './_workerd.ts'

const contents = `import { MCPServer } from '../../../src/index.ts'
  export default new MCPServer({ id: 'slow', name: 'Slow', version: '1.0.0', log: false, http: { bodyTimeoutMs: 300 } })`

it('a body that stops → 408, also after others arrived in time', async () => {
  const workerd = await startWorkerd({ stdin: { contents, resolveDir: import.meta.dirname, loader: 'ts' } })
  try {
    const url = new URL('/mcp', await urlOf(workerd))
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })
    const post = (text: string, length: number): Promise<string> =>
      new Promise((resolve) => {
        const socket = connect({ host: url.hostname, port: Number(url.port) })
        socket.once('data', (data) => {
          resolve(String(data))
          socket.destroy()
        })
        const headers = `Host: ${url.host}\r\nContent-Type: application/json\r\nContent-Length: ${length}`
        socket.write(`POST /mcp HTTP/1.1\r\n${headers}\r\n\r\n${text}`)
      })
    for (let sent = 0; sent < 12; sent++) expect(await post(body, body.length)).toMatch(/^HTTP\/1.1 200/)
    expect(await post(body.slice(0, 9), body.length)).toMatch(/^HTTP\/1.1 408/)
    expect(await post(body, body.length)).toMatch(/^HTTP\/1.1 200/)
  } finally {
    await workerd.dispose()
  }
})
