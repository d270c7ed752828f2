/** How long an asked client may take, where nobody says otherwise: docs/asking.md names both times. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { createMemoryRendezvous, createTool } from '../../../src/index.ts'
import { CLIENT, createServer, legacyRequest } from '../_client.ts'
import { accept, askedIn, round } from './_rounds.ts'

const form = z.object({ ok: z.boolean() })
const serverOf = () =>
  createServer({
    secret: 'a-secret-of-the-tests-that-is-long-enough',
    tools: {
      t: createTool({
        id: 't',
        execute: async (_input, ctx) => {
          await ctx.step('load', () => 1)
          return (await ctx.elicit('?', form)).action
        },
      }),
    },
  })

beforeEach(() => void vi.spyOn(console, 'error').mockImplementation(() => undefined))
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

it('a sealed state opens for 10 minutes, and no longer [state.bounds]', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  const server = serverOf()
  const asked = await round(server, { name: 't' })
  const inputResponses = Object.fromEntries(askedIn(asked).map(({ key }) => [key, accept({ ok: true })]))
  const retry = { name: 't', requestState: asked.result?.requestState, inputResponses }
  vi.setSystemTime(Date.now() + 599_000)
  expect((await round(server, retry)).result?.resultType).toBe('complete')
  vi.setSystemTime(Date.now() + 2000)
  expect((await round(server, retry)).error?.code).toBe(-32602)
})

it('a client that is asked on a connection has 2 minutes; then the call ends with a typed result [legacy.deadline]', async () => {
  vi.useFakeTimers()
  const declared = {
    protocolVersion: '2025-11-25',
    clientInfo: CLIENT,
    clientCapabilities: { elicitation: {} },
  }
  const rendezvous = createMemoryRendezvous()
  const session = {
    id: 'one',
    declared,
    logLevel: undefined,
    subscriptions: { change: async () => {} },
    rendezvous,
  }
  const response = await serverOf().handle(legacyRequest('tools/call', { name: 't' }), { session })
  const ended = vi.fn()
  const text = response.text().then((all) => {
    ended()
    return all
  })
  await vi.advanceTimersByTimeAsync(119_900)
  expect(ended).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(200)
  expect(ended).toHaveBeenCalledOnce()
  expect(await text).toContain('"mayfly/degraded":{"feature":"elicitation.form"')
})
