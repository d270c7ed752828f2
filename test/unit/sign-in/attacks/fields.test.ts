/** The names of fields, before anybody is authenticated: how many there are must not matter. */
import { describe, expect, it } from 'vitest'
import { ownCpuMs } from '../../../_cpu.ts'
import { createWorld, leave, ORIGIN, registered } from '../_sign-in.ts'
import { createWholeServer } from './_whole-server.ts'

/** As many different names as fit. */
function names(characters: number): string {
  let text = ''
  for (let count = 0; text.length < characters - 8; count++) text += `${count.toString(36)}&`
  return text
}

const post = (path: string, body: string): Request =>
  new Request(`${ORIGIN}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body,
  })

describe('thousands of different names', () => {
  it.each(['/oauth/token', '/oauth/authorize', '/connections'])(
    'POST %s → 400, in less than half a second of work',
    async (path) => {
      const { world } = createWholeServer()
      await world.send(post(path, 'a=b'))
      const start = ownCpuMs()
      expect((await world.send(post(path, names(65_000)))).status).toBe(400)
      expect(ownCpuMs() - start).toBeLessThan(500)
    },
  )

  it.each(['/oauth/authorize', '/oauth/authorize?consent=x&', '/oauth/callback'])(
    'GET %s → 400, in less than half a second of work',
    async (path) => {
      const { world } = createWholeServer()
      await world.get('/oauth/callback?a=b')
      const start = ownCpuMs()
      for (const characters of [4000, 60_000])
        expect((await world.get(`${path}?${names(characters)}`)).status).toBe(400)
      expect(ownCpuMs() - start).toBeLessThan(500)
    },
  )

  it('50 are read, and a name in an answer is cut', async () => {
    const world = createWorld()
    const { jar, callback } = await leave(world, { clientId: await registered(world) })
    const more = (count: number): string => Array.from({ length: count }, (_, at) => `&x${at}=y`).join('')
    expect((await world.get(callback() + more(49), jar.headers)).status).toBe(400)
    expect((await world.get(callback() + more(48), jar.headers)).status).toBe(303)
    const name = 'n'.repeat(30_000)
    const answer = await (await world.send(post('/oauth/token', `${name}=1&${name}=2`))).text()
    expect(answer.length).toBeLessThan(300)
  })
})
