/** A client over HTTP, and an endpoint of its own: from a subscription to a delivery, a retry and the end. */
import { expect, it, onTestFinished, vi } from 'vitest'
import { SECRET, startEndpoint } from './_endpoint.ts'
import { createWire } from './_wire.ts'

/** @param start a new process of `createNotes`, which the caller ends. */
export function eventScenario(
  start: () => Promise<{ readonly url: URL; readonly close: () => unknown }>,
): void {
  it('a client subscribes, gets a signed event, a second try of one that failed, and nothing after the end', async () => {
    const endpoint = await startEndpoint()
    onTestFinished(() => endpoint.close())
    const { url, close } = await start()
    onTestFinished(async () => void (await close()))
    const send = createWire(url)
    const hook = new URL('/hook', endpoint.url).href
    const subscription = { name: 'note.created', arguments: { tag: 'a' } }
    const granted = await send('events/subscribe', {
      ...subscription,
      delivery: { mode: 'webhook', url: hook, secret: SECRET },
    })
    expect(granted).toMatchObject({ id: expect.stringMatching(/^sub_/), truncated: false })

    const texts = () => endpoint.received.map(({ body }) => body.data?.text)
    await send('tools/call', { name: 'add_note', arguments: { text: 'other', tag: 'b' } })
    await send('tools/call', { name: 'add_note', arguments: { text: 'first', tag: 'a' } })
    await vi.waitFor(() => expect(texts()).toEqual(['first']), { timeout: 5000 })
    expect(endpoint.received[0]!.headers['x-mcp-subscription-id']).toBe(granted.id)

    let failures = 1
    endpoint.answer = () =>
      failures-- > 0 ? { status: 503, headers: { 'retry-after': '0' } } : { status: 204 }
    await send('tools/call', { name: 'add_note', arguments: { text: 'second', tag: 'a' } })
    await vi.waitFor(() => expect(texts().length).toBeGreaterThan(1), { timeout: 5000 })
    await vi.waitFor(
      async () => {
        await send('tools/call', { name: 'deliver', arguments: {} })
        expect(texts()).toEqual(['first', 'second', 'second'])
      },
      // It is sent again after about five seconds, whatever the endpoint demands.
      { timeout: 60_000, interval: 250 },
    )
    const [, failed, again] = endpoint.received
    expect(again!.headers['webhook-id']).toBe(failed!.headers['webhook-id'])

    await send('events/unsubscribe', { ...subscription, delivery: { url: hook } })
    await send('tools/call', { name: 'add_note', arguments: { text: 'late', tag: 'a' } })
    await send('tools/call', { name: 'deliver', arguments: {} })
    expect(texts()).toEqual(['first', 'second', 'second'])
  })
}
