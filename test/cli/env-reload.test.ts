/** `mayfly dev` while the files with variables change. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { testPort } from '../_port.ts'
import { MayflyProcess, Project, stopAll, until } from './_dev-process.ts'

afterAll(stopAll)

const result = (value: string): string =>
  `Response.json({ jsonrpc: '2.0', id: 1, result: { greeting: ${value} ?? 'none' } })`
const SERVERS: { readonly [target: string]: string } = {
  node: `export default { fetch: async () => ${result('process.env.GREETING')} }`,
  deno: `export default { fetch: async () => ${result(`Deno.env.get('GREETING')`)} }`,
  cloudflare: `export default { fetch: async (_request, env) => ${result('env.GREETING')} }`,
}

test.for(Object.keys(SERVERS))(
  '%s: a change of .env reaches the server',
  { timeout: 180_000 },
  async (target) => {
    await using project = new Project()
    project.write('server.ts', SERVERS[target]!)
    project.write('.env', 'GREETING=one\n')
    const port = await testPort()
    await using mayfly = new MayflyProcess(
      ['dev', '--target', target, '--port', String(port)],
      project.folder,
    )
    await mayfly.ready()
    const greets = (expected: string): Promise<void> =>
      until(() =>
        fetch(`http://127.0.0.1:${port}/mcp`, {
          method: 'POST',
          headers: { connection: 'close' },
          body: '{}',
        })
          .then((response) => response.json())
          .then(
            (message) => (message as { result: { greeting: string } }).result.greeting === expected,
            () => false,
          ),
      )
    await greets('one')
    project.write('.env', 'GREETING=two\n')
    await greets('two')
    await mayfly.says('read .env again')
    // The first file with a variable wins.
    project.write('.env.local', 'GREETING=three\n')
    await greets('three')
    rmSync(join(project.folder, '.env.local'))
    await greets('two')
    project.write('.env', '')
    await greets('none')
    project.write('.env', Buffer.from('GREETING=caf\xe9\n', 'latin1'))
    await mayfly.says('cannot read .env at GREETING')
    await greets('none')
    expect((await mayfly.signal('SIGTERM')).code).toBe(0)
  },
)

test('what the environment sets is kept, whatever a file says', async () => {
  await using project = new Project()
  project.write('server.ts', SERVERS.node!)
  project.write('.env', 'GREETING=one\nOTHER=1\n')
  const port = await testPort()
  const args = ['dev', '--target', 'node', '--port', String(port)]
  await using mayfly = new MayflyProcess(args, project.folder, undefined, { GREETING: 'set' })
  await mayfly.ready()
  project.write('.env', 'GREETING=two\nOTHER=2\n')
  await mayfly.says('reloaded')
  const response = await fetch(`http://127.0.0.1:${port}/mcp`, { method: 'POST', body: '{}' })
  expect(await response.json()).toMatchObject({ result: { greeting: 'set' } })
})
