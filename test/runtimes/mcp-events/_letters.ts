/** Dead letters of one process, for operators at another one. */
import { expect, it } from 'vitest'
import { createEventAdmin } from '../../../src/events-admin.ts'
import type { KeyedStore } from '../../../src/keyed/store.ts'
import { createEventServer, SECRET, URL_A } from '../../unit/mcp-events/_events.ts'

/** Letters that a subscription has. */
const KEPT = 20

/** @param connect Two connections to a place of its own. */
export function letterScenarios(connect: () => Promise<readonly [KeyedStore, KeyedStore]>): void {
  it('what one process gave up, another one lists, shows and delivers again, once', async () => {
    const [here, there] = await connect()
    const one = createEventServer({}, here)
    const two = createEventServer({ deliver: one.endpoints }, there)
    const operationsOf = ({ server }: typeof one) =>
      createEventAdmin({ secret: 'x1-secret-of-operators-for-this-test' }).of(server)
    const [first, second] = [operationsOf(one), operationsOf(two)]
    const { result } = await one.subscribe({ ttlMs: 86_400_000 })
    one.endpoints.answer = () => ({ status: 413 })
    for (let count = 0; count < KEPT + 2; count++) await one.emit({ title: `title-${count}` }, `e${count}`)

    const page = await second.list({ limit: KEPT - 1 })
    const rest = await second.list({ after: page.next })
    const letters = [...page.letters, ...rest.letters]
    // The oldest made room.
    expect(letters.map(({ eventId }) => eventId)).toEqual(
      Array.from({ length: KEPT }, (_none, index) => `e${index + 2}`),
    )
    const { id } = letters.at(-1)!
    const shown = await second.show(id)
    expect(shown).toMatchObject({
      reason: 'refused',
      status: 413,
      tries: 1,
      subscriptionId: result!.id,
      event: { data: { json: expect.stringContaining('title-21') } },
      subscription: { origin: new URL(URL_A).origin, active: true, queued: 0 },
    })
    expect(JSON.stringify(shown)).not.toContain(SECRET)

    one.endpoints.answer = () => ({ status: 200 })
    one.endpoints.received.length = 0
    const redelivered = await Promise.allSettled([first, second, first, second].map((of) => of.redeliver(id)))
    expect(redelivered.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    await Promise.all([one.server.events.run(), two.server.events.run()])
    expect(one.endpoints.received.map(({ body }) => body.eventId)).toEqual(['e21'])
    await expect(second.show(id)).rejects.toMatchObject({ code: 'UNKNOWN_LETTER' })
    await one.unsubscribe()
    await expect(second.redeliver(letters[0]!.id)).rejects.toMatchObject({ code: 'SUBSCRIPTION_GONE' })
    expect([...one.errors, ...two.errors]).toEqual([])
  })
}
