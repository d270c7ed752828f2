/** A client that leaves: what is written down of its call, and whose place the code that runs on has. */
import { describe, expect, it } from 'vitest'
import { eventually } from '../_eventually.ts'
import { IMPLEMENTED, toCall } from './_entries.ts'
import { watchTests } from './_watched.ts'

const { starting } = watchTests()

const ENTRIES = Object.entries(IMPLEMENTED).filter(([id, { kind }]) => kind === 'call' && id !== 'stdio')
/** The settling of somebody else's tool is not seen. */
const OURS = ENTRIES.filter(([, { throwsIn }]) => throwsIn === 'code')

const AS_JSON = { streamAfterMs: 60_000 }
const AS_STREAM = { streamAfterMs: 0, keepAliveMs: 20 }

describe.each([
  ['before it is a stream', AS_JSON],
  ['once it is a stream', AS_STREAM],
])('a client that leaves %s', (_when, http) => {
  it.each(ENTRIES)('is written down as gone: %s', async (id, entry) => {
    for (let way = 0, ways = 1; way < ways; way++) {
      const { probe, connect } = await starting(entry)({ http })
      const client = await connect()
      const { leave, heard } = client.begin(toCall(entry, 'wait'))
      ways = Object.keys(leave).length
      await eventually(() => expect(probe.count('wait')).toBe(1))
      if (http === AS_STREAM) await new Promise((resolve) => setTimeout(resolve, 50))
      await Object.values(leave)[way]!()
      await eventually(() => {
        const calls = probe.audit.filter(({ method }) => method === 'tools/call')
        expect(calls, JSON.stringify(heard)).toMatchObject([{ outcome: 'failed', status: 499 }])
      })
      await eventually(() => {
        const lines = probe.log.filter(({ method }) => method === 'tools/call' || method === 'batch')
        expect(lines.length, id).toBeGreaterThan(0)
        for (const { status } of lines) expect(status).toBe(499)
      })
    }
  })

  it.each(OURS)('leaves its place to the tool that runs on: %s', async (_id, entry) => {
    for (let way = 0, ways = 1; way < ways; way++) {
      const { probe, connect } = await starting(entry)({ http: { ...http, maxConcurrentCalls: 1 } })
      const next = await connect()
      const { leave } = (await connect()).begin(toCall(entry, 'stubborn'))
      ways = Object.keys(leave).length
      await eventually(() => expect(probe.count('wait')).toBe(1))
      await Object.values(leave)[way]!()
      await eventually(() => expect(probe.audit.map(({ status }) => status)).toContain(499))
      const say = async () => (await next.send([toCall(entry, 'say')]))[0]!.message
      expect((await say())?.error?.message).toContain('concurrent')
      probe.release()
      await eventually(async () =>
        expect((await say())?.result).toMatchObject({ content: [{ text: 'said' }] }),
      )
    }
  })
})
