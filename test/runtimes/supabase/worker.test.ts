/** What the platform's global changes: where work that outlives a response goes, and when a call ends. */
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { supabase } from '../../../deploy/targets/supabase/target.ts'
import { CLIENTS } from '../../contract/clients.ts'
import { type ServedArtefact, serveArtefact, withEnv } from '../_artefact.ts'

const MAX_DURATION_MS = 60_000

let served: ServedArtefact
let startedAt: number
beforeAll(async () => {
  startedAt = Date.now()
  const target = withEnv(supabase, { MAYFLY_MAX_DURATION_MS: String(MAX_DURATION_MS) })
  served = await serveArtefact('test/runtimes/supabase/_worker.ts', target)
})
afterAll(() => served?.stop())

it('every call of a worker ends with the worker, not a whole limit after it came [streaming.deadline]', async () => {
  await using connection = await CLIENTS[0]!.connect(served.url)
  const first = (await connection.call('deadline')).structuredContent as { deadline: number; now: number }
  await delay(50)
  const second = (await connection.call('deadline')).structuredContent as { deadline: number; now: number }

  expect(second.now).toBeGreaterThan(first.now)
  expect(second.deadline).toBe(first.deadline)
  expect(first.deadline).toBeGreaterThan(startedAt)
  expect(first.deadline).toBeLessThanOrEqual(first.now + MAX_DURATION_MS)
})

it('ctx.waitUntil hands its promise to EdgeRuntime.waitUntil [context.wait-until]', async () => {
  await using connection = await CLIENTS[0]!.connect(served.url)
  await connection.call('outlive')
  expect((await connection.call('kept')).structuredContent).toEqual({ promises: 1 })
})
