/** Servers that ask what they may not, when they may not, and without end. */
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  type Asking,
  asking,
  askingInCall,
  askingModern,
  askUnsolicited,
  FORM,
} from '../../hostile/server/questions.ts'
import { visit } from './_hostile.ts'

/** Never answers, and says when it has been asked and when it may stop. */
function createSilentHandler() {
  const signals: AbortSignal[] = []
  const handler = (_request: unknown, { signal }: { signal: AbortSignal }) => {
    signals.push(signal)
    return new Promise<never>(() => {})
  }
  return { signals, handler }
}

/** The stream of no call is opened in the background: until then a question waits, and a call's time passes. */
const hasStream = (server: Asking) =>
  expect.poll(() => server.seen.some(({ method }) => method === 'GET')).toBe(true)

describe('a question on the stream of no call', () => {
  it('while there is none: is refused, and the handler does not hear of it', async () => {
    const { server, client } = await visit(asking())
    const { signals, handler } = createSilentHandler()
    client.elicitation.onRequest('evil', handler)
    await client.listTools()

    await askUnsolicited(server, 'q')

    await expect.poll(() => server.answers.get('q')).toMatchObject({ error: { code: -32600 } })
    expect(signals).toEqual([])
  })

  it('suspends no call’s time', async () => {
    const { server, client, call } = await visit(asking(), { timeoutMs: 1500 })
    const { signals, handler } = createSilentHandler()
    client.elicitation.onRequest('evil', handler)
    await client.listTools()
    await hasStream(server)
    const startedAt = Date.now()
    const calls = [call(), call()]
    await askUnsolicited(server, 'q')

    for (const one of calls) await expect(one).rejects.toMatchObject({ code: 'TIMEOUT' })

    expect(Date.now() - startedAt).toBeLessThan(8000)
    // Nobody is left who could want the answer.
    await expect.poll(() => signals.map(({ aborted }) => aborted)).toEqual([true])
    await expect.poll(() => server.answers.get('q')).toMatchObject({ result: { action: 'cancel' } })
  })

  it('while one is under way: is answered, for servers of SDK v1 ask there', async () => {
    const { server, client, call } = await visit(
      asking(() => {}),
      { timeoutMs: 3000 },
    )
    client.elicitation.onRequest('evil', () => ({ action: 'decline' }))
    await client.listTools()
    await hasStream(server)
    const waiting = call().catch(() => {})
    await askUnsolicited(server, 'q')

    await expect.poll(() => server.answers.get('q')).toMatchObject({ result: { action: 'decline' } })
    await waiting
  })
})

describe('a question on the stream of a call', () => {
  it('suspends the time of that call, and of no other', async () => {
    let finish = (): void => {}
    const { client, call } = await visit(
      asking((exchange) => {
        const send = exchange.events()
        const { id } = exchange.message ?? {}
        if (JSON.stringify(exchange.message?.params).includes('quiet')) return
        send({ jsonrpc: '2.0', id: 'q', method: 'elicitation/create', params: FORM })
        finish = () => send({ jsonrpc: '2.0', id, result: { content: [] } })
      }),
      { timeoutMs: 1500 },
    )
    const { signals, handler } = createSilentHandler()
    client.elicitation.onRequest('evil', handler)
    await client.listTools()
    const asked = call()
    await expect.poll(() => signals.length).toBe(1)

    await expect(client.callTool('evil', 'hello', { quiet: true })).rejects.toMatchObject({ code: 'TIMEOUT' })
    await new Promise((resolve) => setTimeout(resolve, 500))
    finish()

    expect(await asked).toEqual({ content: [] })
  })

  it('thousands at once: a few are asked, the rest refused or dropped', async () => {
    const { server, client } = await visit(askingInCall(3000), { timeoutMs: 1500 })
    const { signals, handler } = createSilentHandler()
    client.elicitation.onRequest('evil', handler)
    const controller = new AbortController()
    await client.listTools()
    const waiting = client.callTool('evil', 'hello', {}, { signal: controller.signal }).catch(() => {})
    await expect.poll(() => signals.length).toBe(8)
    await new Promise((resolve) => setTimeout(resolve, 300))

    expect(signals).toHaveLength(8)
    // Refusals are requests of ours: their number is bounded as well.
    expect(server.answers.size).toBeLessThan(100)
    controller.abort()
    await waiting
    expect(signals.every(({ aborted }) => aborted)).toBe(true)
  })

  it('one after the other without end: 32 are answered', async () => {
    let asked = 0
    const { client, call } = await visit(
      asking(async (exchange) => {
        const send = exchange.events()
        for (; asked < 40; asked++) {
          send({ jsonrpc: '2.0', id: `q${asked}`, method: 'elicitation/create', params: FORM })
          await new Promise((resolve) => setTimeout(resolve, 20))
        }
        send({ jsonrpc: '2.0', id: exchange.message?.id, result: { content: [] } })
        exchange.response.end()
      }),
    )
    let heard = 0
    client.elicitation.onRequest('evil', () => {
      heard++
      return { action: 'decline' }
    })

    await call()

    expect(heard).toBe(32)
  })

  it('what the handler throws, or answers wrongly, is reported here and not told there', async () => {
    const failures: (() => never | object)[] = [
      () => {
        throw new Error('secret of /home/ann')
      },
      () => ({ action: 'accept', content: { name: { secret: 1n } } }),
      () => ({ secret: 'no action' }),
    ]
    for (const fail of failures) {
      const { server, client, call, reported } = await visit(askingInCall(1))
      client.elicitation.onRequest('evil', fail as never)
      const waiting = call().catch(() => {})

      await expect.poll(() => server.answers.get('q0')).toMatchObject({ error: { code: -32603 } })

      expect(JSON.stringify(server.answers.get('q0'))).not.toMatch(/secret|name/)
      expect(reported).toMatchObject([
        { code: 'LISTENER_FAILED', server: 'evil', operation: 'elicitation/create' },
      ])
      expect(reported[0]!.cause).toBeInstanceOf(Error)
      server.finish()
      await waiting
    }
  })

  it('the handler is told when the call is over, when the server takes it back, and when the client ends', async () => {
    const { client, call } = await visit(
      asking(({ events, message }) => {
        const send = events()
        const id = `q${message?.id}`
        send({ jsonrpc: '2.0', id, method: 'elicitation/create', params: FORM })
        if (message?.params?.arguments !== undefined && 'back' in (message.params.arguments as object))
          setTimeout(
            () => send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } }),
            50,
          )
      }),
    )
    const { signals, handler } = createSilentHandler()
    client.elicitation.onRequest('evil', handler)
    const controller = new AbortController()
    const first = client.callTool('evil', 'hello', {}, { signal: controller.signal })
    await expect.poll(() => signals.length).toBe(1)
    controller.abort()
    await expect(first).rejects.toMatchObject({ code: 'ABORTED' })
    expect(signals[0]!.aborted).toBe(true)

    const second = client.callTool('evil', 'hello', { back: true }).catch(() => {})
    await expect.poll(() => signals[1]?.aborted).toBe(true)

    const third = call().catch(() => {})
    await expect.poll(() => signals.length).toBe(3)
    await client.disconnect()
    expect(signals[2]!.aborted).toBe(true)
    await Promise.all([second, third])
  })

  it.each([
    'file:///etc/passwd',
    'javascript:alert(1)',
    'http://evil.example/',
    'https://bank.example@evil.example/',
    'ms-settings:x',
  ])('a user is not sent to %s', async (url) => {
    const { server, client, call } = await visit(
      askingInCall(1, { mode: 'url', message: 'Go there', url, elicitationId: 'e' }),
    )
    const asked: unknown[] = []
    client.elicitation.onRequest('evil', (request) => {
      asked.push(request)
      return { action: 'accept' }
    })
    const waiting = call().catch(() => {})

    await expect.poll(() => server.answers.get('q0')).toMatchObject({ error: { code: -32602 } })

    expect(asked).toEqual([])
    server.finish()
    await waiting
  })
})

describe('a modern server', () => {
  it('that asks thousands of questions at once gets no answer', async () => {
    const { client, call } = await visit(askingModern(5000))
    let heard = 0
    client.elicitation.onRequest('evil', () => {
      heard++
      return { action: 'decline' }
    })

    await expect(call()).rejects.toMatchObject({
      code: 'REQUEST_FAILED',
      message: expect.stringContaining('5000 questions'),
    })

    expect(heard).toBe(0)
  })

  it('that asks round after round is given up', async () => {
    const { client, call, server } = await visit(askingModern(8))
    let heard = 0
    client.elicitation.onRequest('evil', () => {
      heard++
      return { action: 'decline' }
    })

    await expect(call()).rejects.toMatchObject({ code: 'REQUEST_FAILED' })

    expect(heard).toBe(32)
    const retries = server.seen.filter(({ body }) => body.includes('inputResponses'))
    expect(retries.length).toBeGreaterThan(0)
    for (const { body } of retries) {
      const { params } = JSON.parse(body) as { params: { inputResponses: object } }
      expect(Object.keys(params.inputResponses)).toEqual(Array.from({ length: 8 }, (_, index) => `q${index}`))
    }
  })

  it('a handler that throws fails the call, and is reported', async () => {
    const { client, call, reported, server } = await visit(askingModern(1))
    client.elicitation.onRequest('evil', () => {
      throw new Error('secret')
    })

    await expect(call()).rejects.toMatchObject({ code: 'REQUEST_FAILED' })

    expect(reported).toMatchObject([{ code: 'LISTENER_FAILED', cause: { message: 'secret' } }])
    expect(JSON.stringify(server.seen)).not.toContain('secret')
  })

  it('two calls that are asked under one name are told apart', async () => {
    const { client } = await visit(askingModern(1), { timeoutMs: 1500 })
    const { signals, handler } = createSilentHandler()
    client.elicitation.onRequest('evil', handler)
    await client.listTools()
    const controllers = [new AbortController(), new AbortController()]
    const calls = controllers.map(({ signal }) => client.callTool('evil', 'hello', {}, { signal }))
    for (const call of calls) call.catch(() => {})
    onTestFinished(() => {
      for (const controller of controllers) controller.abort()
    })
    await expect.poll(() => signals.length).toBe(2)
    // Longer than the calls may take: the user's time is not theirs.
    await new Promise((resolve) => setTimeout(resolve, 2500))

    controllers[0]!.abort()

    await expect(calls[0]).rejects.toMatchObject({ code: 'ABORTED' })
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false])
  })
})
