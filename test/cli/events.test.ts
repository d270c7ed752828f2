/** `mayfly events`, spawned for real: its command line, an endpoint that is something else, and dead letters of a real server. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { nodeListener } from '../../adapters/node.ts'
import { createEventAdmin, createEventEndpoint } from '../../src/events-admin.ts'
import { createEventServer } from '../unit/mcp-events/_events.ts'
import { MayflyProcess, type Output, Project } from './_dev-process.ts'
import { STEERING } from './_terminal.ts'

const SECRET = 'a-secret-for-operators-of-40-characters!'
const ID = `${'0'.repeat(15)}.sub_${'0'.repeat(32)}.${'0'.repeat(12)}.${'0'.repeat(8)}`
const env = { MAYFLY_EVENTS_SECRET: SECRET }

function run(project: Project, args: readonly string[], given: NodeJS.ProcessEnv = env): Promise<Output> {
  return new MayflyProcess(['events', ...args], project.folder, undefined, given).exited
}

async function listen(listener: Parameters<typeof createServer>[1]) {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`,
    [Symbol.dispose]: () => void server.close(),
  }
}

describe('mayfly events', { timeout: 120_000 }, () => {
  test.concurrent.each([
    [[], /no action is given: pass list, show or redeliver/],
    [['show'], /which dead letter\?/],
    [['redeliver', 'a'], /not the id of a dead letter/],
    [['show', ID, '--name', 'a'], /--name is only for mayfly events list/],
    [['list', '--reason', 'lost'], /not a reason: pass refused or expired/],
    [['list', '--url', 'http://shop.example/events'], /must begin with https/],
  ] as const)('%j → exit code 2 and one line', async (args, message) => {
    await using project = new Project()
    const { code, stdout, stderr } = await run(project, args)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(message)
    expect(stderr.trim()).not.toContain('\n')
  })

  test('dead letters of a server are listed, shown and delivered again', async () => {
    await using project = new Project()
    const { server, subscribe, emit, endpoints } = createEventServer({ runner: { wake() {} } })
    await subscribe()
    endpoints.answer = () => ({ status: 413 })
    await emit({ title: 'Down' }, 'e1')
    endpoints.answer = () => ({ status: 200 })
    const admin = createEventAdmin({ secret: SECRET })
    const endpoint = createEventEndpoint({ server, secret: `${SECRET}-cron`, admin })
    using at = await listen(nodeListener(endpoint.mount()))

    const listed = await run(project, ['list', '--url', at.url, '--json'])
    const id = JSON.parse(listed.stdout).letters[0].id as string
    expect((await run(project, ['list', '--url', at.url])).stdout).toMatch(
      /refused +incident\.created +e1 .*status 413/,
    )
    expect((await run(project, ['show', id, '--url', at.url])).stdout).toMatch(
      /data +\{"title":"Down".*\n[\s\S]*endpoint +https:\/\/a\.example\.com\n/,
    )
    expect((await run(project, ['redeliver', id, '--url', at.url])).stdout).toBe(
      'e1 is delivered in the next run\n',
    )
    await server.events.run()
    expect(endpoints.received).toHaveLength(2)
    expect(await run(project, ['redeliver', id, '--url', at.url])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('There is no such dead letter'),
    })
  })

  // What the SDK of AWS says: it is no package of this project.
  test.each(['Region is missing', 'Could not load credentials from any providers'])(
    'a store on AWS that this machine cannot reach → what to set, in one line: %s',
    async (said) => {
      await using project = new Project()
      project.linkPackage()
      project.write(
        'server.ts',
        `import { MCPServer } from 'mayfly-mcp'
import { staticTokens } from 'mayfly-mcp/auth'
import { dynamoEvents } from 'mayfly-mcp/dynamodb'
import { createEvent, events } from 'mayfly-mcp/mcp-events'
const fail = async () => { throw new Error('${said}') }
const client = new Proxy({}, { get: () => fail })
const changed = createEvent({ id: 'a.changed', description: 'A' })
export default new MCPServer({
  id: 'a', name: 'a', version: '1', auth: staticTokens([{ token: '${SECRET}', clientId: 'me' }]),
  events: events({ types: { changed }, store: dynamoEvents(client, { table: 'events' }) }),
})`,
      )
      expect(await run(project, ['list'])).toEqual({
        code: 1,
        stdout: '',
        stderr: `mayfly: server.ts: ${said}; its store is on AWS: set AWS_REGION, credentials and the name of the table as the deployment has them, or pass its endpoint of events as --url, with MAYFLY_EVENTS_SECRET\n`,
      })
    },
  )

  test('no secret; another server; what steers a terminal', async () => {
    await using project = new Project()
    const evil = '\u001b]0;x\u0007\u202e\u0085\r\nnext'
    const letter = { id: evil, reason: [evil], name: evil, eventId: { evil }, subscription: evil, event: 1 }
    using at = await listen(({ url = '' }, response) =>
      response.end(
        JSON.stringify(url.startsWith('/events?show') ? letter : { letters: [letter], next: evil }),
      ),
    )
    const unset = await run(project, ['list', '--url', at.url], { MAYFLY_EVENTS_SECRET: '' })
    expect(unset).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('MAYFLY_EVENTS_SECRET has no value'),
    })
    const other = await run(project, ['redeliver', ID, '--url', at.url])
    expect(other).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('does not answer like an endpoint of events with "admin"'),
    })
    for (const args of [
      ['list', '--limit', '1'],
      ['show', ID],
      ['list', '--limit', '1', '--json'],
    ]) {
      const { code, stdout, stderr } = await run(project, [...args, '--url', at.url])
      expect([args, code]).toEqual([args, 0])
      expect(stdout + stderr).not.toMatch(STEERING)
    }
  })
})
