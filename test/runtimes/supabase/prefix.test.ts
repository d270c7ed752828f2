/** What is Supabase's own: the prefix of its gateway, the project's public address, and the time a call may take. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { supabase } from '../../../deploy/targets/supabase/target.ts'
import { deadline } from '../../contract/deadline.ts'
import { type ServedArtefact, serveArtefact, withEnv } from '../_artefact.ts'

const FIXTURE = 'test/contract/fixture.ts'

let served: ServedArtefact
beforeAll(async () => {
  served = await serveArtefact(FIXTURE, withEnv(supabase, { SUPABASE_URL: 'https://abcdef.supabase.co' }))
})
afterAll(() => served?.stop())

it.each(['', '/', '/mcp', '/any/where'])(
  'at /functions/v1/contract%s the page shows the public address [platform.public-url]',
  async (path) => {
    const url = new URL(`/functions/v1/contract${path}`, served.url)
    const page = await (await fetch(url, { headers: { accept: 'text/html' } })).text()
    const own = path === '' || path === '/' ? '/mcp' : path
    expect(page).toContain(`>https://abcdef.supabase.co/functions/v1/contract${own}<`)
  },
)

it('the health check is under the prefix, and nothing is served beside it', async () => {
  const health = await fetch(new URL('/functions/v1/contract/healthz', served.url))
  expect(health.status).toBe(200)
  const beside = await fetch(new URL('/contract/healthz', served.url))
  expect(beside.status).toBe(404)
})

it('a forwarded host that a client made up is shown to nobody [platform.public-url]', async () => {
  const headers = { accept: 'text/html', 'x-forwarded-host': 'evil.example', 'x-forwarded-prefix': '/evil' }
  const page = await (await fetch(served.url, { headers })).text()
  expect(page).not.toContain('evil')
})

deadline('Supabase', () => serveArtefact(FIXTURE, withEnv(supabase, { MAYFLY_MAX_DURATION_MS: '3000' })), {
  maxDurationMs: 3000,
  named: 'the wall clock limit of the Edge Function',
})
