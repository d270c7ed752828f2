/** What each guard must do, at whichever entry. */
import { expect } from 'vitest'
import { eventually } from '../_eventually.ts'
import type { Call, Change, Client, Reply } from './_clients.ts'
import { type Entry, listenTo, type Started, toCall } from './_entries.ts'
import type { Told } from './_fronts.ts'
import type { Guarded } from './_ours.ts'
import { FAILURES, type Failure, type Probe } from './_probe.ts'
import type { GuardId } from './matrix.ts'

/** Starts the server of an entry, which is closed when the test is over. */
export type Start = (guarded?: Guarded, told?: Told) => Promise<Started>

export type Scenario = (entry: Entry, start: Start) => Promise<void>

const INVALID_REQUEST = -32600
const PARSE = -32700
const INTERNAL = -32603
const HEADER_MISMATCH = -32020

/** A call's result, or a stream's acknowledgement. */
const isServed = ({ message }: Reply): boolean =>
  (message?.result !== undefined && message.result.isError !== true) ||
  message?.method === 'notifications/subscriptions/acknowledged'

async function one(client: Client, call: Call, change?: Change): Promise<Reply> {
  const [reply] = await client.send([call], change)
  return reply!
}

async function expectServed(entry: Entry, client: Client): Promise<void> {
  const reply = await one(client, toCall(entry, 'say'))
  expect(isServed(reply), JSON.stringify(reply)).toBe(true)
}

/** How often the server's code has run for what `toCall(entry, 'say')` asks. */
const runs = ({ kind }: Entry, probe: Probe): number => probe.count(kind === 'call' ? 'say' : 'wait')

/** Waits for that: a server that is another process tells of it beside its answers. */
const ran = (entry: Entry, probe: Probe, times: number) =>
  eventually(() => expect(runs(entry, probe)).toBe(times))

/** Requests that are refused before any message of them is read: all with one status, and no code has run. */
const refusing =
  (status: number, guarded: Guarded, changes: readonly Change[]): Scenario =>
  async (entry, start) => {
    const { probe, connect } = await start(guarded)
    const client = await connect()
    for (const change of changes) {
      const reply = await one(client, toCall(entry, 'say'), change)
      expect(reply.status, JSON.stringify(change)).toBe(status)
    }
    await expectServed(entry, client)
    await ran(entry, probe, 1)
  }

/** The HTTP status of a refusal, where it is that of the call. */
function expectStatus(entry: Entry, { status }: Reply, expected: number): void {
  if (entry.hasStatus) expect(status).toBe(expected)
}

const begun = (probe: Probe, times = 1) => eventually(() => expect(probe.count('wait')).toBe(times))
const aborted = (probe: Probe) => eventually(() => expect(probe.count('aborted')).toBeGreaterThan(0))

/** Nested `levels` deep. */
const nested = (levels: number): object => (levels === 0 ? {} : { deeper: nested(levels - 1) })

export const SCENARIOS: { readonly [G in GuardId]: Scenario } = {
  async host(entry, start) {
    // Everything here listens on a loopback address, and browsers on the same machine reach it: nothing needs to be configured.
    for (const http of [{ allowedHosts: ['127.0.0.1'] }, {}, { trustProxy: true }])
      await refusing(403, { http }, [
        { headers: { host: 'evil.example' } },
        { headers: { host: 'evil.example', origin: 'http://evil.example', 'x-forwarded-for': '192.0.2.1' } },
        { headers: { origin: 'https://evil.example' } },
      ])(entry, start)
    // A page of a rebound name cannot choose Host, but every other header.
    for (const http of [
      { trustProxy: true },
      { trustProxy: true, allowedHosts: ['shop.example', '127.0.0.1'] },
      { trustProxy: true, publicUrl: 'https://shop.example/mcp' },
    ])
      await refusing(
        403,
        { http },
        ['localhost', 'shop.example'].map((forwarded) => ({
          headers: { host: 'evil.example', origin: 'http://evil.example', 'x-forwarded-host': forwarded },
        })),
      )(entry, start)
    // What a proxy on this machine passes on.
    for (const http of [
      { allowedHosts: ['shop.example', '127.0.0.1'] },
      { publicUrl: 'https://shop.example/mcp' },
    ]) {
      const client = await (await start({ http })).connect()
      const headers = { host: 'shop.example', origin: 'https://app.example' }
      expect(isServed(await one(client, toCall(entry, 'say'), { headers }))).toBe(true)
    }
  },

  headerSize: refusing(431, { http: { maxHeaderBytes: 2000 } }, [
    { headers: { 'x-long': 'x'.repeat(2500) } },
  ]),

  content: refusing(415, {}, [
    { headers: { 'content-type': 'text/plain' } },
    { headers: { 'content-type': undefined } },
    { headers: { 'content-type': 'application/json; charset=utf-16' } },
    { headers: { 'content-encoding': 'gzip' } },
  ]),

  bodySize: refusing(413, { http: { maxBodyBytes: 2000 } }, [
    { body: (text) => text + ' '.repeat(2000) },
    {
      body: (text) => text + ' '.repeat(2000),
      headers: { 'transfer-encoding': 'chunked', 'content-length': undefined },
    },
  ]),

  bodyTime: refusing(408, { http: { bodyTimeoutMs: 100 } }, [{ holdsBody: true }]),

  async json(entry, start) {
    const { probe, connect, front } = await start({ http: { maxJsonDepth: 12, maxJsonMembers: 60 } })
    const client = await connect()
    const say = toCall(entry, 'say')
    const withParam = (extra: unknown): Call => ({ ...say, params: { ...say.params, extra } })
    const sent: [Call, Change['body'], number][] = [
      [withParam(nested(20)), undefined, INVALID_REQUEST],
      [withParam(Array(80).fill(0)), undefined, INVALID_REQUEST],
    ]
    // On stdio the transport reads the text: it leaves such keys out, and what is no JSON has no id to answer with.
    if (front !== undefined) {
      const polluted = (text: string) => text.replace('"params":{', '"params":{"__proto__":{},')
      sent.push([say, polluted, INVALID_REQUEST], [say, (text) => text.slice(1), PARSE])
    }
    for (const [call, body, code] of sent) {
      const reply = await one(client, call, body && { body })
      expect(reply.message?.error?.code, JSON.stringify(reply)).toBe(code)
      if (front !== undefined) expect(reply.status).toBe(400)
    }
    await expectServed(entry, client)
    await ran(entry, probe, 1)
  },

  async headers(entry, start) {
    const { probe, connect } = await start()
    const client = await connect()
    const say = toCall(entry, 'say')
    const lies = [{ 'mcp-method': 'ping' }, ...(entry.kind === 'call' ? [{ 'mcp-name': 'rule' }] : [])]
    for (const headers of lies) {
      const reply = await one(client, say, { headers })
      expect(reply.message?.error?.code, JSON.stringify(reply)).toBe(HEADER_MISMATCH)
      expectStatus(entry, reply, 400)
    }
    expect(isServed(await one(client, say, { headers: { 'mcp-method': say.method } }))).toBe(true)
    await ran(entry, probe, 1)
  },

  async token(entry, start) {
    const { probe, connect } = await start({ auth: true })
    const client = await connect('use')
    for (const authorization of [undefined, 'Bearer', 'Bearer nonsense', 'Basic use']) {
      const reply = await one(client, toCall(entry, 'say'), { headers: { authorization } })
      expect(reply.status).toBe(401)
      expect(reply.headers['www-authenticate']).toContain('Bearer')
    }
    expect(runs(entry, probe)).toBe(0)
    probe.forget()
    const replies = await client.send(Array(3).fill(toCall(entry, 'say')))
    expect(replies.map(isServed)).toEqual([true, true, true])
    // Once for each request.
    expect(probe.verified).toBe(entry.isBatch ? 1 : 3)
  },

  scopes: (entry, start) =>
    entry.kind === 'call'
      ? callsNeedScopes(entry, start)
      : entry.throwsIn === 'bus'
        ? streamsNeedScopes(start)
        : foreignStreamsNeedScopes(start),

  async middleware(entry, start) {
    const { probe, connect } = await start({ use: true })
    const client = await connect()
    const say = async (text: string) =>
      (await one(client, toCall(entry, 'say', { text }))).message?.result as Record<string, unknown>
    expect(await say('hello')).toMatchObject({ content: [{ text: 'hello!' }], _meta: { seen: true } })
    await ran(entry, probe, 1)
    if (entry.hasStatus || entry.isBatch) {
      const body = (text: string) => text.replace(/"id":\d+,/, '')
      const { status, message } = await one(client, toCall(entry, 'say', { text: 'no id' }), { body })
      expect([status, message]).toEqual([202, undefined])
      expect(probe.count('say')).toBe(1)
      probe.audit.length = 1
    }
    expect(await say('own')).toMatchObject({ content: [{ text: 'its own' }], _meta: { seen: true } })
    expect(await say('edit')).toMatchObject({ content: [{ text: 'edited!?' }], _meta: { seen: true } })
    const refused = await say('refuse')
    expect(refused).toMatchObject({ content: [{ text: 'refused for undefined' }], isError: true })
    expect(JSON.stringify(refused)).not.toContain('.ts')
    await eventually(() => expect(probe.reports).toEqual(['refused for undefined']))
    expect(probe.count('say')).toBe(2)
    await eventually(() =>
      expect(probe.audit.map(({ outcome }) => outcome)).toEqual(['done', 'done', 'done', 'failed']),
    )
  },

  async unknown(entry, start) {
    // The server asks nobody, and nobody has asked for it.
    const host = await (await start()).connect()
    await expectServed(entry, host)
    if (entry.kind === 'call') await refusesUnknown(entry, host, entry.throwsIn === 'code')
    else await hearsNoSecret(entry, host, 'note://secret')
    // The server opens some names to everybody.
    const { probe, connect } = await start({ auth: 'anonymous' })
    const anonymous = await connect()
    if (entry.kind === 'call') {
      await expectServed(entry, anonymous)
      await refusesUnknown(entry, anonymous, true)
    } else await hearsNoSecret(entry, anonymous, 'note://secret')
    expect(probe.count('rule')).toBe(0)
  },

  async rate(entry, start) {
    const { probe, connect } = await start({ rate: true })
    const client = await connect()
    probe.allowed = 3
    const replies = await client.send(Array(5).fill(toCall(entry, 'say')))
    expect(probe.counted).toHaveLength(5)
    expect(new Set(probe.counted).size).toBe(1)
    expect(replies.filter(isServed)).toHaveLength(3)
    for (const reply of replies.filter((one) => !isServed(one))) {
      expect(reply.message?.error?.message).toContain('Too many requests')
      expectStatus(entry, reply, 429)
      if (reply.status === 429) expect(reply.headers['retry-after']).toBe('7')
    }
    await ran(entry, probe, 3)
  },

  async concurrency(entry, start) {
    const { probe, connect } = await start({ http: { maxConcurrentCalls: 1 } })
    const client = await connect()
    // Each makes room for the next, however it ends.
    for (const call of [toCall(entry, 'say'), toCall(entry, 'nothing'), { method: 'nothing/at-all' }])
      expect((await one(client, call)).message?.error?.message ?? '').not.toContain('concurrent')
    await eventually(() => expectServed(entry, client))
    probe.forget()
    const running = client.begin(toCall(entry, 'wait'))
    await begun(probe)
    const refused = await one(client, toCall(entry, 'say'))
    expect(refused.message?.error).toMatchObject({
      code: INTERNAL,
      message: expect.stringContaining('concurrent'),
    })
    expectStatus(entry, refused, 503)
    if (entry.kind === 'call') {
      probe.release()
      expect(isServed(await running.reply)).toBe(true)
    } else await Object.values(running.leave)[0]!()
    await eventually(() => expectServed(entry, client))
  },

  async deadline(entry, start) {
    const limits = { maxCallMs: 200, maxListenMs: 200, maxConcurrentCalls: 1 }
    const { probe, connect } = await start({ http: limits })
    const client = await connect()
    // What is loaded by the first call takes its time.
    await eventually(() => expectServed(entry, client))
    probe.forget()
    const { message } = await client.begin(toCall(entry, 'wait')).reply
    if (entry.kind === 'call')
      expect(message?.error).toMatchObject({ code: INTERNAL, data: { limit: 'deadline' } })
    else expect(message?.result).toMatchObject({ resultType: 'complete' })
    await aborted(probe)
    await eventually(() => expectServed(entry, client))
  },

  async disconnect(entry, start) {
    for (let way = 0, ways = 1; way < ways; way++) {
      const { probe, connect, front } = await start({ http: { maxConcurrentCalls: 1 } })
      const client = await connect()
      const { leave } = client.begin(toCall(entry, 'wait'))
      ways = Object.keys(leave).length
      await begun(probe)
      await Object.values(leave)[way]!()
      await aborted(probe)
      if (front === undefined) continue
      const next = await connect()
      await eventually(() => expectServed(entry, next))
      expect(probe.reports).toEqual([])
    }
  },

  async audit(entry, start) {
    const { probe, connect, front } = await start({ auth: true })
    const client = await connect('use')
    const { method, params } = toCall(entry, 'say')
    const caller = entry.kind === 'call' && front === undefined ? {} : { clientId: 'use' }
    const target = entry.kind === 'call' ? { target: params?.name } : {}
    const expected: object[] = [{ method, ...target, ...caller, outcome: 'done', status: 200 }]
    await expectServed(entry, client)
    await written(probe, expected)
    if (front === undefined) return
    if (entry.kind === 'call') {
      await client.send([toCall(entry, 'say'), toCall(entry, 'rule')])
      expected.push(expected[0]!, { method, target: 'rule', ...caller, outcome: 'refused', status: 403 })
      await written(probe, expected)
    }
    await one(client, toCall(entry, 'say'), { headers: { authorization: 'Bearer nonsense' } })
    await written(probe, [...expected, { outcome: 'refused', status: 401 }])
  },

  async log(entry, start) {
    const { probe, connect } = await start({ auth: true })
    const client = await connect('use')
    const long = 'x'.repeat(5000)
    const lines = (count: number) => eventually(() => expect(probe.log).toHaveLength(count))
    // A tool and a client with long names.
    await one(client, toCall(entry, long), { body: (text) => text.replace('"guards"', JSON.stringify(long)) })
    await lines(1)
    for (const value of Object.values(probe.log[0]!)) expect(String(value).length).toBeLessThan(300)
    await one(client, toCall(entry, 'say'), { headers: { authorization: 'Bearer nonsense' } })
    await lines(2)
    expect(probe.log[1]).toMatchObject({ status: 401, httpMethod: 'POST' })
    await client.send([toCall(entry, 'say'), toCall(entry, 'say')])
    const requests = entry.isBatch ? 1 : 2
    await lines(2 + (entry.logs === 'message' ? 2 : requests))
    // Nothing of this is a fault of the server.
    expect(probe.log.slice(2).map(({ status, code }) => [status, code])).toEqual(
      Array(probe.log.length - 2).fill([200, undefined]),
    )
    expect(probe.reports).toEqual([])
  },

  async background(entry, start) {
    const { probe, connect } = await start()
    const client = await connect()
    await eventually(() => expectServed(entry, client))
    // A stream runs nothing but what makes a server.
    probe.leavesWork = entry.kind === 'listen'
    expect(isServed(await one(client, toCall(entry, 'later')))).toBe(true)
    probe.leavesWork = false
    await eventually(() => expect(probe.reports).toEqual(['later failed']))
    await expectServed(entry, client)
  },

  async unwritable(entry, start) {
    const { probe, connect } = await start({ http: { maxConcurrentCalls: 1 } })
    const client = await connect()
    await eventually(() => expectServed(entry, client))
    for (const [how, call] of failures(entry)) {
      probe.forget()
      if (entry.throwsIn !== 'code') probe.failure = how
      const { message } = await one(client, call)
      expect(message?.error, `${how} ${JSON.stringify(message)}`).toMatchObject({ code: INTERNAL })
      await eventually(() => expect(probe.reports, how).toHaveLength(1))
      probe.failure = undefined
      // What fails on and on, such as a bus that is down, is reported once until it works again.
      await eventually(() => expectServed(entry, client))
    }
  },

  async size(entry, start) {
    const { connect } = await start({}, { maxResponseBytes: 5000 })
    const client = await connect()
    const { message } = await one(client, toCall(entry, 'big'))
    expect(message?.error).toMatchObject({ code: INTERNAL, data: { limit: 'responseBytes' } })
    await expectServed(entry, client)
  },
}

/** Calls that are sent together are over in any order. */
const written = (probe: Probe, entries: readonly object[]) =>
  eventually(() => {
    expect(probe.audit).toHaveLength(entries.length)
    expect(probe.audit).toEqual(
      expect.arrayContaining(entries.map((entry) => expect.objectContaining(entry))),
    )
  })

/** What the server's code throws, and the call that makes it do so. */
function failures(entry: Entry): [Failure, Call][] {
  const names = Object.keys(FAILURES) as Failure[]
  if (entry.throwsIn !== 'code') return names.map((how) => [how, toCall(entry, 'say')])
  const read = names.map((how): [Failure, Call] => [
    how,
    { method: 'resources/read', params: { uri: `fail://${how}` } },
  ])
  // Of a tool, anything else is a result.
  const errors = names.filter((how) => FAILURES[how]() instanceof Error)
  const called = [false, true].flatMap((late) =>
    errors.map((how): [Failure, Call] => [how, toCall(entry, 'fail', { how, late })]),
  )
  return [...read, ...called]
}

async function callsNeedScopes(entry: Entry, start: Start): Promise<void> {
  const { probe, connect } = await start({ auth: true })
  const listed = async (client: Client): Promise<unknown[]> => {
    const { message } = await one(client, { method: 'tools/list' })
    return (message!.result!.tools as { name: string }[]).map(({ name }) => name)
  }
  const user = await connect('use')
  const refused = await one(user, toCall(entry, 'rule'))
  expect(refused.message?.error?.message, JSON.stringify(refused)).toContain('Forbidden')
  expectStatus(entry, refused, 403)
  if (entry.hasStatus) expect(refused.headers['www-authenticate']).toContain('insufficient_scope')
  const secret = { method: 'resources/read', params: { uri: 'note://secret' } }
  expect((await one(user, secret)).message?.error?.message).toContain('Forbidden')
  expect(probe.count('rule')).toBe(0)
  expect(await listed(user)).not.toContain('rule')
  expect(await listed(user)).toContain('say')
  const admin = await connect('admin')
  expect(isServed(await one(admin, toCall(entry, 'rule')))).toBe(true)
  expect(await listed(admin)).toContain('rule')
}

/** A caller that is not known is refused what needs a scope, and is not told that it exists. */
async function refusesUnknown(entry: Entry, client: Client, knowsNames: boolean): Promise<void> {
  const read = (uri: string): Call => ({ method: 'resources/read', params: { uri } })
  const pairs: [closed: Call, absent: Call, names: [string, string]][] = [
    [toCall(entry, 'rule'), toCall(entry, 'nope'), ['rule', 'nope']],
    [read('note://secret'), read('note://absent'), ['note://secret', 'note://absent']],
  ]
  for (const [closed, absent, [name, other]] of pairs) {
    const refused = await one(client, closed)
    expect(refused.message?.error, JSON.stringify(refused)).toMatchObject({
      code: INVALID_REQUEST,
      message: expect.stringContaining('needs an access token'),
    })
    expectStatus(entry, refused, 401)
    if (entry.hasStatus) expect(refused.headers['www-authenticate']).toMatch(/^Bearer/)
    if (!knowsNames) continue
    const { message, status, headers } = await one(client, absent)
    expect({ ...message?.error, status }).toEqual({
      ...refused.message?.error,
      message: refused.message?.error?.message.replace(name, other),
      status: refused.status,
    })
    expect(headers['www-authenticate']).toBe(refused.headers['www-authenticate'])
  }
  for (const method of ['tools/list', 'resources/list']) {
    const { message } = await one(client, { method })
    expect(message?.result, method).toBeDefined()
    expect(JSON.stringify(message?.result)).not.toMatch(/rule|secret/)
  }
}

/** A foreign server refuses the stream, ours leaves out what its caller may not read. */
async function hearsNoSecret(entry: Entry, client: Client, uri: string): Promise<void> {
  const reply = await one(client, listenTo(uri))
  if (entry.throwsIn === 'bus') expect(JSON.stringify(reply.message)).not.toContain(uri)
  else expect(reply.status).toBe(401)
}

/** A stream hears nothing of what its caller may not read. */
/** Which of the URIs a foreign server would tell of is not known: all of them must be allowed. */
async function foreignStreamsNeedScopes(start: Start): Promise<void> {
  const { connect } = await start({ auth: true })
  const user = await connect('use')
  const refused = await one(user, listenTo('note://secret', 'note://open'))
  expect(refused.status).toBe(403)
  const { leave } = user.begin(listenTo('note://open'))
  await Object.values(leave)[0]!()
}

async function streamsNeedScopes(start: Start): Promise<void> {
  const { probe, connect } = await start({ auth: true })
  const user = await connect('use')
  const { heard, leave } = user.begin(listenTo('note://secret', 'note://open'))
  await begun(probe)
  for (const uri of ['note://secret', 'note://open']) probe.update(uri)
  await eventually(() => expect(heard.at(-1)?.params?.uri).toBe('note://open'))
  expect(JSON.stringify(heard)).not.toContain('note://secret')
  await Object.values(leave)[0]!()
}
