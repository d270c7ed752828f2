/** What a command tells beside its result, and what is left of it with `--quiet`. */
import { afterAll, expect, test } from 'vitest'
import { testPort } from '../_port.ts'
import { MayflyProcess, Project, stopAll } from './_dev-process.ts'

afterAll(stopAll)

const server = (status: number): string => `
  export default {
    fetch(): Response {
      console.error('a line of the server')
      return Response.json({ jsonrpc: '2.0', id: 1, result: {} }, { status: ${status} })
    },
  }
`

async function dev(status: number, ...flags: string[]): Promise<string> {
  await using project = new Project()
  project.write('server.ts', server(status))
  project.write('.env', 'A=1')
  const port = String(await testPort())
  await using mayfly = new MayflyProcess(
    ['dev', 'server.ts', '--target', 'node', '--port', port, ...flags],
    project.folder,
  )
  await mayfly.ready()
  return (await mayfly.signal('SIGINT')).stderr
}

test.concurrent('dev tells which file it read and how to connect', async () => {
  const stderr = await dev(200)
  for (const told of ['mayfly: read .env\n', 'npx mayfly add', 'a line of the server'])
    expect(stderr).toContain(told)
  expect(stderr).not.toContain('--bearer-env')
})

test.concurrent('a server that wants a token → dev says how a client sends it', async () => {
  expect(await dev(401)).toMatch(/npx mayfly add .* --bearer-env TOKEN\n/)
})

test.concurrent('dev --quiet → what the server prints, and no more', async () => {
  expect(await dev(401, '--quiet')).toMatch(/^(?:a line of the server\n)+$/)
})

test.concurrent('build --quiet → one line on stdout; what is wrong is told all the same', async () => {
  await using project = new Project()
  project.write('server.ts', server(200))
  const built = await new MayflyProcess(['build', '--target', 'node', '--quiet'], project.folder).exited
  expect(built).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/^built [^\n]+\n$/) })
  const wrong = await new MayflyProcess(['build', '--target', 'moon', '--quiet'], project.folder).exited
  expect(wrong).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringMatching(/^mayfly: [^\n]*moon[^\n]*\n$/),
  })
})

test.concurrent('an entry that never loads → where to look, also with --quiet', async () => {
  await using project = new Project()
  project.write('server.ts', 'setInterval(() => {}, 1000)\nawait new Promise(() => {})\nexport default {}')
  await using mayfly = new MayflyProcess(
    ['dev', '--target', 'node', '--port', '0', '--quiet'],
    project.folder,
  )
  await mayfly.says('server.ts does not load within 15 seconds')
  expect((await mayfly.signal('SIGINT')).code).toBe(0)
})
