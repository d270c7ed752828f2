/** What is due in the store, while subscriptions come and go. */
import { expect, it } from 'vitest'
import { createMemoryEvents } from '../../../src/mcp-events.ts'
import { createEventServer } from './_events.ts'

it('unsubscribed and subscribed again while a run looks for it → what it missed is delivered', async () => {
  const inner = createMemoryEvents()
  const other = createEventServer({}, inner)
  const { result } = await other.subscribe()
  const cursor = result?.cursor
  await other.unsubscribe()
  await other.emit({ title: 'missed' })
  await other.subscribe({ cursor })

  const isDue = (key: string): boolean => key.includes(':u:')
  let steps = 0
  const store = {
    ...inner,
    async list(options: Parameters<typeof inner.list>[0]) {
      const page = await inner.list(options)
      if (isDue(options.prefix) && steps === 0) {
        steps++
        await other.unsubscribe()
      }
      return page
    },
    async commit(...given: Parameters<typeof inner.commit>) {
      const [first] = given[1]
      if (steps === 1 && first !== undefined && isDue(first.key)) {
        steps++
        await other.subscribe({ cursor })
      }
      return inner.commit(...given)
    },
  }
  const one = createEventServer({ deliver: other.endpoints }, store)
  await one.server.events.run()
  await other.server.events.run()

  expect(steps).toBe(2)
  expect(other.titles()).toEqual(['missed'])
})
