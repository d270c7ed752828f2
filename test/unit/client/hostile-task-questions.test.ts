/** Servers whose tasks ask what they may not, and without end. */
import { describe, expect, it } from 'vitest'
import { asking, completed, question, TASK_ID, task, tasking } from '../../hostile/server/tasks.ts'
import { visit } from './_hostile.ts'

const failed = { code: 'REQUEST_FAILED', server: 'evil' }

describe('the questions of a task', () => {
  it('one under the same key is asked once, however often it is told', async () => {
    const { call, client, server } = await visit(
      tasking({ look: (count) => (count < 6 ? asking({ q: question() }) : completed()) }),
    )
    let asked = 0
    client.elicitation.onRequest('evil', () => {
      asked++
      return { action: 'decline' }
    })

    await call()

    expect(asked).toBe(1)
    expect(server.count('tasks/update')).toBe(1)
  })

  it('an answer that the server fails to take is sent again', async () => {
    let updates = 0
    const { call, client } = await visit(
      tasking({
        look: () => (updates < 2 ? asking({ q: question() }) : completed()),
        update: ({ json, result }) => (++updates === 1 ? json({}, 503) : result({ resultType: 'complete' })),
      }),
    )
    let asked = 0
    client.elicitation.onRequest('evil', () => {
      asked++
      return { action: 'decline' }
    })

    await call()

    expect([asked, updates]).toEqual([1, 2])
  })

  it('another one under a key that is in use fails the call', async () => {
    const { call, client } = await visit(tasking({ look: (count) => asking({ q: question(`${count}`) }) }))
    client.elicitation.onRequest('evil', () => ({ action: 'decline' }))

    await expect(call()).rejects.toMatchObject({ ...failed, message: expect.stringContaining('key q') })
  })

  it('nine at once: none is asked', async () => {
    const nine = Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`q${index}`, question()]))
    const { call, client } = await visit(tasking({ look: () => asking(nine) }))
    let asked = 0
    client.elicitation.onRequest('evil', () => {
      asked++
      return { action: 'decline' }
    })

    await expect(call()).rejects.toMatchObject({ ...failed, message: expect.stringContaining('9 questions') })

    expect(asked).toBe(0)
  })

  it('without end: 32 are answered', async () => {
    const { call, client } = await visit(
      tasking({
        look: (count) =>
          asking(
            Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`${count}-${index}`, question()])),
          ),
      }),
    )
    let asked = 0
    client.elicitation.onRequest('evil', () => {
      asked++
      return { action: 'decline' }
    })

    await expect(call()).rejects.toMatchObject({ ...failed, message: expect.stringContaining('32') })

    expect(asked).toBe(32)
  })

  it('that come and go without end: 32 are asked', async () => {
    const { call, client } = await visit(
      tasking({ look: (count) => (count % 2 === 1 ? asking({ q: question() }) : task()) }),
    )
    const signals: AbortSignal[] = []
    client.elicitation.onRequest('evil', (_request, { signal }) => {
      signals.push(signal)
      return new Promise<never>(() => {})
    })

    await expect(call()).rejects.toMatchObject({ ...failed, message: expect.stringContaining('32') })

    expect(signals).toHaveLength(32)
    expect(signals.every(({ aborted }) => aborted)).toBe(true)
  }, 30_000)

  it('the handler is told when the task has ended without its answer', async () => {
    const { call, client, server } = await visit(
      tasking({ look: (count) => (count < 3 ? asking({ q: question() }) : completed()) }),
    )
    const signals: AbortSignal[] = []
    client.elicitation.onRequest('evil', (_request, { signal }) => {
      signals.push(signal)
      return new Promise<never>(() => {})
    })

    await call()

    expect(signals.map(({ aborted }) => aborted)).toEqual([true])
    expect(server.count('tasks/update')).toBe(0)
  })

  it('what the handler throws is reported here, and not told there', async () => {
    const { call, client, server, reported } = await visit(tasking({ look: () => asking({ q: question() }) }))
    client.elicitation.onRequest('evil', () => {
      throw new Error('secret of /home/ann')
    })

    await expect(call()).rejects.toMatchObject(failed)

    expect(reported).toMatchObject([{ code: 'LISTENER_FAILED', cause: { message: 'secret of /home/ann' } }])
    expect(JSON.stringify(server.seen)).not.toContain('secret')
    const looks = server.count('tasks/get')
    await new Promise((resolve) => setTimeout(resolve, 400))
    expect(server.count('tasks/get')).toBeLessThanOrEqual(looks + 1)
  })

  it('a user is not sent to http://evil.example/', async () => {
    const params = { mode: 'url', message: 'Go there', url: 'http://evil.example/', elicitationId: 'e' }
    const { call, client } = await visit(
      tasking({ look: () => asking({ q: { method: 'elicitation/create', params } }) }),
    )
    let asked = 0
    client.elicitation.onRequest('evil', () => {
      asked++
      return { action: 'accept' }
    })

    await expect(call()).rejects.toMatchObject(failed)
    expect(asked).toBe(0)
  })

  it('the answer goes out under the server’s own key', async () => {
    const key = '0:q'
    const { call, client, server } = await visit(
      tasking({ look: (count) => (count < 4 ? asking({ [key]: question() }) : completed()) }),
    )
    client.elicitation.onRequest('evil', () => ({ action: 'accept', content: { a: 'b' } }))

    await call()

    const update = server.seen.find(({ body }) => body.includes('tasks/update'))
    expect(JSON.parse(update!.body).params).toMatchObject({
      taskId: TASK_ID,
      inputResponses: { [key]: { action: 'accept', content: { a: 'b' } } },
    })
    expect(update!.headers).toMatchObject({ 'mcp-name': TASK_ID, 'mcp-method': 'tasks/update' })
  })
})
