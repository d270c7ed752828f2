/** `mayfly tasks`, spawned for real, without a store: its command line, and endpoints that are hostile or something else. */
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { MayflyProcess, type Output, Project } from './_dev-process.ts'
import { STEERING } from './_terminal.ts'

const SECRET = 'a-secret-for-operators-of-40-characters!'

function run(project: Project, args: string[], env: NodeJS.ProcessEnv = {}): Promise<Output> {
  return new MayflyProcess(['tasks', ...args], project.folder, undefined, env).exited
}

/** Answers each request in the same way, and records them. */
async function listen(answer: RequestListener) {
  const asked: { method: string; url: string; authorization: string }[] = []
  const server = createServer((request, response) => {
    const { method = '', url = '', headers } = request
    asked.push({ method, url, authorization: headers.authorization ?? '' })
    answer(request, response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    asked,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/tasks`,
    [Symbol.dispose]: () => void server.close(),
  }
}

describe('mayfly tasks', { timeout: 120_000 }, () => {
  test.concurrent.each([
    [[], /no action is given: pass list, show, retry or cancel/],
    [['forget', 'a'], /"forget" is not an action: pass list, show, retry or cancel/],
    [['show'], /which task\?/],
    [['show', 'a b'], /not the id of a task/],
    [['show', 'a', '--status', 'failed'], /--status is only for mayfly tasks list/],
    [['list', '--status', 'broken'], /not a status/],
    [['list', '--older-than', '10'], /not a time for --older-than/],
    [['list', '--limit', '0'], /not a limit/],
    [['list', '--after', ' '], /--after takes/],
    [['list', '--url', 'tasks'], /--url takes the URL/],
    [['list', '--url', 'http://shop.example/tasks'], /must begin with https/],
    [['list', '--url', 'https://a:b@shop.example/tasks'], /--url takes the URL/],
    [['list', 'server.ts', '--url', 'https://shop.example/tasks'], /takes no entry/],
    [['list', '--secret', 'x'], /Unknown option '--secret'/],
  ] as const)('%j → exit code 2 and one line', async (args, message) => {
    await using project = new Project()
    const { code, stdout, stderr } = await run(project, [...args])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(message)
    expect(stderr.trim()).not.toContain('\n')
  })

  test('without a secret → refused, and nothing is sent', async () => {
    await using project = new Project()
    using endpoint = await listen((_request, response) => response.end('{}'))
    const { code, stderr } = await run(project, ['list', '--url', endpoint.url], { MAYFLY_TASKS_SECRET: '' })
    expect([code, stderr, endpoint.asked]).toEqual([
      1,
      expect.stringContaining('MAYFLY_TASKS_SECRET has no value'),
      [],
    ])
  })

  test('a server whose tasks are in its memory, or that has none → refused with the reason', async () => {
    await using project = new Project()
    project.linkPackage()
    const serve = (tasks: string) =>
      `import { MCPServer } from 'mayfly-mcp'\nimport { createMemoryTasks } from 'mayfly-mcp/tasks'
export default new MCPServer({ id: 'a', name: 'a', version: '1', log: false, ${tasks} })\nexport { createMemoryTasks }`
    project.write('server.ts', serve('tasks: createMemoryTasks()'))
    expect(await run(project, ['list'])).toEqual({
      code: 1,
      stdout: '',
      stderr:
        'mayfly: server.ts: its tasks are in the memory of the server: pass its task endpoint as --url\n',
    })
    project.write('server.ts', serve(''))
    expect((await run(project, ['list'])).stderr).toMatch(/server\.ts: the server .* has no "tasks"/)
  })

  test('a store on AWS that this machine cannot reach → what to set, in one line', async () => {
    await using project = new Project()
    project.linkPackage()
    project.write(
      'server.ts',
      `import { MCPServer } from 'mayfly-mcp'
import { dynamoTaskStore } from 'mayfly-mcp/dynamodb'
import { createTasks } from 'mayfly-mcp/tasks'
// What the SDK of AWS says: it is no package of this project.
const fail = async () => { throw new Error('Region is missing') }
const store = dynamoTaskStore(new Proxy({}, { get: () => fail }), { table: 'tasks' })
export default new MCPServer({ id: 'a', name: 'a', version: '1', tasks: createTasks({ store }) })`,
    )
    expect(await run(project, ['list'])).toEqual({
      code: 1,
      stdout: '',
      stderr:
        'mayfly: server.ts: Region is missing; its store is on AWS: set AWS_REGION, credentials and the name of the table as the deployment has them, or pass its task endpoint as --url, with MAYFLY_TASKS_SECRET\n',
    })
  })

  test('the secret goes to the endpoint alone, as a header; a redirect is not followed', async () => {
    await using project = new Project()
    using other = await listen((_request, response) => response.end('{"tasks":[]}'))
    using endpoint = await listen((_request, response) =>
      response.writeHead(307, { location: other.url }).end(),
    )
    const env = { MAYFLY_TASKS_SECRET: SECRET }
    const { code, stderr } = await run(project, ['list', '--url', endpoint.url, '--tool', 'a&b=c'], env)
    expect([code, other.asked]).toEqual([1, []])
    expect(stderr).toMatch(/does not answer like a task endpoint with "admin" \(status 307\)/)
    expect(stderr).not.toContain(SECRET)
    const [asked] = endpoint.asked
    expect(asked).toEqual({
      method: 'GET',
      url: '/tasks?list=&tool=a%26b%3Dc&limit=50',
      authorization: `Bearer ${SECRET}`,
    })
  })

  test.each([
    ['another answer', '{"run":3}'],
    ['no JSON', '<html>'],
    ['null', 'null'],
    ['tasks without ids', '{"tasks":[{}]}'],
    ['a next that is no string', '{"tasks":[],"next":1}'],
    ['17 MB', `{"tasks":[],"x":"${'x'.repeat(17_000_000)}"}`],
  ])('%s → exit code 1 and one line', async (_what, body) => {
    await using project = new Project()
    using endpoint = await listen((_request, response) => response.end(body))
    const { code, stdout, stderr } = await run(project, ['list', '--url', endpoint.url], {
      MAYFLY_TASKS_SECRET: SECRET,
    })
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr.trim()).toMatch(/^mayfly: [^\n]{10,300}$/)
  })

  test('members of other kinds, and what steers a terminal → text, without an error', async () => {
    await using project = new Project()
    const evil = '\u001b]0;x\u0007\u202e\u0085\r\nnext'
    const task = {
      taskId: evil,
      status: { a: evil },
      tool: [evil],
      statusMessage: 7,
      createdAt: evil,
      awaits: { events: [evil, {}], questions: 'x' },
      run: evil,
      journal: [
        null,
        1,
        { kind: evil, name: evil, at: {}, key: evil, value: { json: evil, bytes: evil }, error: evil },
      ],
      questions: [null, { key: evil, method: evil, params: [] }],
      caller: evil,
      inbox: { answers: evil, events: [evil] },
      arguments: { json: evil.repeat(200), bytes: 5 },
      error: { message: evil, name: evil, code: {} },
    }
    using endpoint = await listen(({ url = '' }, response) =>
      response.end(JSON.stringify(url.includes('show') ? task : { tasks: [task], next: evil })),
    )
    for (const args of [
      ['list', '--limit', '1'],
      ['show', 'a'],
      ['list', '--limit', '1', '--json'],
      ['show', 'a', '--json'],
    ]) {
      const { code, stdout, stderr } = await run(project, [...args, '--url', endpoint.url], {
        MAYFLY_TASKS_SECRET: SECRET,
      })
      expect([args, code]).toEqual([args, 0])
      expect(stdout).not.toMatch(STEERING)
      expect(stderr).not.toMatch(STEERING)
    }
  })

  test('an id that begins with a dash is no option', async () => {
    await using project = new Project()
    using endpoint = await listen((_request, response) => response.end('{"cancelled":true}'))
    const id = `-${'a'.repeat(31)}`
    const { code, stdout } = await run(project, ['cancel', id, '--url', endpoint.url], {
      MAYFLY_TASKS_SECRET: SECRET,
    })
    expect([code, stdout]).toEqual([0, `${id} is cancelled\n`])
    expect(endpoint.asked[0]).toMatchObject({ method: 'POST', url: `/tasks?cancel=${id}` })
  })

  test('many empty pages are read until the last', async () => {
    await using project = new Project()
    using endpoint = await listen(({ url = '' }, response) => {
      const page = Number(/after=(\d+)/.exec(url)?.[1] ?? 0)
      response.end(
        JSON.stringify(page < 30 ? { tasks: [], next: String(page + 1) } : { tasks: [{ taskId: 'a' }] }),
      )
    })
    const { stdout } = await run(project, ['list', '--json', '--url', endpoint.url], {
      MAYFLY_TASKS_SECRET: SECRET,
    })
    expect(JSON.parse(stdout)).toEqual({ tasks: [{ taskId: 'a' }] })
    expect(endpoint.asked).toHaveLength(31)
  })
})
