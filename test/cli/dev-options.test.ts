/** What `mayfly dev` says of its options for the playground. */
import { afterAll, expect, test } from 'vitest'
import { testPort } from '../_port.ts'
import { MayflyProcess, Project, stopAll } from './_dev-process.ts'

afterAll(stopAll)

const SERVER = `export default {
  async fetch(request: Request) {
    const { pathname } = new URL(request.url)
    if (request.method === 'POST') return Response.json({ jsonrpc: '2.0', id: 1, result: {} })
    return pathname === '/' ? new Response('my own page') : new Response('not found', { status: 404 })
  },
}`

const browser = { 'sec-fetch-dest': 'document', accept: 'text/html' }

async function serve(
  project: Project,
  ...options: string[]
): Promise<{ mayfly: MayflyProcess; origin: string }> {
  project.write('server.ts', SERVER)
  const port = await testPort()
  const args = ['dev', '--target', 'node', '--port', String(port), ...options]
  const mayfly = new MayflyProcess(args, project.folder)
  await mayfly.ready()
  return { mayfly, origin: `http://127.0.0.1:${port}` }
}

test('a server with its own page at / keeps it: the playground is below, and the terminal says so', async () => {
  await using project = new Project()
  const { mayfly, origin } = await serve(project, '--open')
  expect(await (await fetch(`${origin}/`, { headers: browser })).text()).toBe('my own page')
  expect(await (await fetch(`${origin}/__mayfly/`, { headers: browser })).text()).toContain(
    'Mayfly playground',
  )
  const { stderr } = await mayfly.signal('SIGINT')
  expect(stderr).toContain(`Playground  ${origin}/__mayfly/\n`)
  // Nobody sees a browser here.
  expect(stderr).toContain('--open opens a browser only on a terminal')
})

test('--no-playground leaves the port to the server', async () => {
  await using project = new Project()
  const { mayfly, origin } = await serve(project, '--no-playground')
  expect((await fetch(`${origin}/__mayfly/`, { headers: browser })).status).toBe(404)
  const { code, stderr } = await mayfly.signal('SIGINT')
  expect(code).toBe(0)
  expect(stderr).not.toContain('Playground')
})

test('--inspector where it is not installed → one line that says how to install it', async () => {
  await using project = new Project()
  project.write('server.ts', SERVER)
  const { code, stdout, stderr } = await new MayflyProcess(
    ['dev', '--inspector', '--target', 'node'],
    project.folder,
  ).exited
  expect({ code, stdout, stderr }).toEqual({
    code: 1,
    stdout: '',
    stderr:
      'mayfly: @modelcontextprotocol/inspector is not installed: run npm install --save-dev @modelcontextprotocol/inspector\n',
  })
})

test('--open with --no-playground → exit code 2', async () => {
  await using project = new Project()
  project.write('server.ts', SERVER)
  const args = ['dev', '--open', '--no-playground', '--target', 'node']
  const { code, stderr } = await new MayflyProcess(args, project.folder).exited
  expect(code).toBe(2)
  expect(stderr).toMatch(/^mayfly: --open opens the playground[^\n]+\n$/)
})
