/** `mayfly keys --kv` with a real wrangler, on the namespace of this machine. */
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { MayflyProcess, type Output, Project } from '../../cli/_dev-process.ts'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

it('makes, lists and revokes a key, and does so in the namespace of the binding', async () => {
  await using project = new Project()
  project.write(
    'wrangler.toml',
    'name = "keys"\nmain = "server.ts"\ncompatibility_date = "2025-09-01"\n[[kv_namespaces]]\nbinding = "KEYS"\nid = "keys"\n',
  )
  const run = (...args: string[]): Promise<Output> =>
    new MayflyProcess(['keys', ...args, '--kv', 'KEYS', '--local'], project.folder, undefined, {
      CI: '1',
      HOME: project.folder,
    }).exited

  const made = await run('create', "Ann's laptop", '--server', 'shop', '--scopes', 'a,b', '--expires', '90d')
  expect([made.code, made.stdout, made.stderr]).toEqual([
    0,
    expect.stringMatching(/^mk_\w{49}\n$/),
    expect.stringContaining(`made ${made.stdout.slice(0, 15)}`),
  ])
  const id = made.stdout.slice(3, 15)
  const listed = JSON.parse((await run('list', '--json')).stdout)
  expect(listed.keys).toEqual([
    { ...listed.keys[0], id, name: "Ann's laptop", owner: "Ann's laptop", scopes: ['a', 'b'] },
  ])
  expect((await run('revoke', id)).stdout).toBe('revoked\n')
  expect((await run('list')).stdout).toBe('no keys\n')
  expect((await run('list', '--all')).stdout).toMatch(new RegExp(`mk_${id} .* revoked `))
  expect((await run('revoke', '000000000000')).code).toBe(1)
})

it('a binding that the configuration lacks → exit code 1, and wrangler says why', async () => {
  await using project = new Project()
  project.write('wrangler.toml', 'name = "keys"\nmain = "server.ts"\ncompatibility_date = "2025-09-01"\n')
  const args = ['keys', 'list', '--kv', 'NONE', '--local']
  const { code, stdout, stderr } = await new MayflyProcess(args, project.folder, undefined, { CI: '1' })
    .exited
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toContain('mayfly: wrangler cannot use the KV namespace NONE')
  expect(stderr).not.toContain(ROOT)
})
