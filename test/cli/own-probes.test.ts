/** What `mayfly dev` itself asks a server is not in the log that it shows. */
import { afterAll, expect, test } from 'vitest'
import { testPort } from '../_port.ts'
import { MayflyProcess, Project, stopAll } from './_dev-process.ts'

afterAll(stopAll)

const LOCKED = `, auth: staticTokens([{ token: 'a-token-of-the-tests', clientId: 'tests' }])`

test.for([
  ['node', ''],
  ['deno', ''],
  ['cloudflare', ''],
  // Such a server refuses it before it is read.
  ['node', LOCKED],
] as const)(
  '%s%s: the log has the requests of clients alone',
  { timeout: 180_000 },
  async ([target, more]) => {
    await using project = new Project()
    project.linkPackage()
    project.write(
      'server.ts',
      `import { MCPServer } from 'mayfly-mcp'
import { staticTokens } from 'mayfly-mcp/auth'
export default new MCPServer({ id: 'a', name: 'a', version: '1'${more} })`,
    )
    const port = await testPort()
    await using mayfly = new MayflyProcess(
      ['dev', '--target', target, '--port', String(port)],
      project.folder,
    )
    await mayfly.ready()
    await fetch(`http://127.0.0.1:${port}/mcp`, { method: 'PUT', headers: { 'x-request-id': 'of-a-client' } })
    await mayfly.says('of-a-client')
    const { stderr } = await mayfly.signal('SIGTERM')
    const lines = stderr.split('\n').filter((line) => line.includes('"httpMethod"'))
    expect(lines).toEqual([expect.stringContaining('"clientRequestId":"of-a-client"')])
    // Nor what wrangler says of the same requests.
    expect(stderr).not.toMatch(/POST \/mcp|GET \/ /)
  },
)
