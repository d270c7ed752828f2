/** `mayfly check --as`: servers to which clients did not connect, and servers to which they do. */
import { describe, expect, test } from 'vitest'
import { CLIENTS } from '../../deploy/check/clients/all.ts'
import type { ClientId } from '../../deploy/check/clients/profile.ts'
import { type Walk, type WalkedStep, walkAs } from '../../deploy/check/walk/walk.ts'
import { connectingServer } from './_connecting-server.ts'
import { THREADS } from './_threads.ts'

async function walk(url: URL, client: ClientId | 'all', bearer?: string): Promise<readonly Walk[]> {
  const profiles = CLIENTS.filter(({ id }) => client === 'all' || id === client)
  const options = { url, bearer, headers: {}, timeoutMs: 5000, origin: undefined, mayRegister: true }
  const walked = await walkAs(profiles, options)
  if ('results' in walked) throw new Error(`not walked: ${walked.results[0]?.detail}`)
  return walked
}

function findings(walks: readonly Walk[]): WalkedStep[] {
  return walks.flatMap(({ steps }) => steps).filter((step) => 'fix' in step)
}

describe('threads', () => {
  test.for(THREADS.map((thread) => [thread.thread, thread.fault, thread] as const))(
    '%s: %s',
    async ([, , { server, client, finds, verdict, fix, isSignedIn }]) => {
      await using running = await connectingServer(server)
      const [walked] = await walk(running.url, client, isSignedIn ? 'the-token' : undefined)
      const found = findings([walked!])

      expect(found).toMatchObject([{ id: `${client}.${finds}`, verdict }])
      expect(found[0]).toHaveProperty('fix', expect.stringMatching(fix))
      expect(walked?.stopsAt).toBe(verdict === 'wrong' ? `${client}.${finds}` : undefined)
    },
  )

  test('there are twenty-five and more, none twice', () => {
    const threads = THREADS.map(({ thread }) => thread)

    expect(new Set(threads).size).toBe(threads.length)
    expect(threads.length).toBeGreaterThanOrEqual(25)
  })
})

test.for([{}, { isOpen: true }])('without a fault, no client finds anything: %o', async (variation) => {
  await using running = await connectingServer(variation)

  expect(findings(await walk(running.url, 'all'))).toEqual([])
  expect(findings(await walk(running.url, 'all', 'the-token'))).toEqual([])
})
