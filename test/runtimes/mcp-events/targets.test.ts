/** Events on the artefact and the runtime of each platform: all methods, the three modes, and what is refused. Others: node, workerd, lambda. */
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bun } from '../../../deploy/targets/bun/target.ts'
import { deno } from '../../../deploy/targets/deno/target.ts'
import { netlify, netlifyEdge } from '../../../deploy/targets/netlify/target.ts'
import { supabase } from '../../../deploy/targets/supabase/target.ts'
import { vercel, vercelEdge } from '../../../deploy/targets/vercel/target.ts'
import { modernRequest, readStream } from '../../contract/wire.ts'
import { type ServedArtefact, serveArtefact } from '../_artefact.ts'
import { SECRET } from './_endpoint.ts'
import { eventScenario } from './_scenario.ts'
import { TOKEN } from './_token.ts'
import { callTool, createWire } from './_wire.ts'

const TARGETS = { bun, deno, vercel, vercelEdge, netlify, netlifyEdge, supabase }
const WANTED = { name: 'note.created', arguments: { tag: 'a' } }

describe.each(Object.entries(TARGETS))('%s', (_name, target) => {
  let served: ServedArtefact
  const start = async () => ({ url: served.url, close: () => {} })
  beforeAll(async () => {
    served = await serveArtefact(join(import.meta.dirname, '_memory-server.ts'), target, import.meta.dirname)
  })
  afterAll(() => served?.stop())

  eventScenario(start)

  it('lists the types of events with their modes', async () => {
    const { events } = await createWire(served.url)('events/list', {})
    expect(events).toMatchObject([
      { name: 'note.created', delivery: ['poll', 'push', 'webhook'], inputSchema: { type: 'object' } },
    ])
  })

  it('a poll with the cursor of the last has what came since, and nothing else', async () => {
    const send = createWire(served.url)
    const poll = (cursor: unknown) => send('events/poll', { ...WANTED, cursor })
    const { cursor } = await poll(null)
    await callTool(send, 'add_note', { text: 'polled', tag: 'a' })
    await callTool(send, 'add_note', { text: 'another', tag: 'b' })
    const next = await poll(cursor)
    expect(next).toMatchObject({ events: [{ data: { text: 'polled' } }], hasMore: false, truncated: false })
    expect(await poll(next.cursor)).toMatchObject({ events: [] })
  })

  it('a stream is active, and has an event as it comes', async () => {
    const headers = { authorization: `Bearer ${TOKEN}` }
    const response = await fetch(modernRequest(served.url, 'events/stream', WANTED, { headers }))
    const methods: unknown[] = []
    for await (const { message } of readStream(response)) {
      if (message === undefined) continue
      methods.push((message as { method?: unknown }).method)
      if (methods.length === 2) break
      await callTool(createWire(served.url), 'add_note', { text: 'streamed', tag: 'a' })
    }
    expect(methods).toEqual(['notifications/events/active', 'notifications/events/event'])
  })

  it.each<
    [what: string, changed: { readonly delivery?: object; readonly [name: string]: unknown }, code: number]
  >([
    ['an event that is unknown', { name: 'other' }, -32011],
    ['arguments of another type', { arguments: { tag: 1 } }, -32602],
    ['an address of a network', { delivery: { url: 'https://10.0.0.1/' } }, -32602],
    ['a short secret', { delivery: { secret: 'whsec_YQ==' } }, -32602],
    ['another mode', { delivery: { mode: 'email' } }, -32014],
  ])('%s → an error', async (_what, { delivery, ...changed }, code) => {
    const given = { mode: 'webhook', url: 'http://127.0.0.1:9/', secret: SECRET, ...delivery }
    const refused = createWire(served.url)('events/subscribe', { ...WANTED, ...changed, delivery: given })
    await expect(refused).rejects.toThrow(`"code":${code}`)
  })

  it('a caller without a token → 401', async () => {
    const { status } = await fetch(modernRequest(served.url, 'events/list', {}))
    expect(status).toBe(401)
  })
})
