/** A server that is killed again and again, with its connections in Postgres: nobody notices. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { behindProxy, disconnected, PUBLIC_URL, SECRET, type Site, Visitor, wholeFlow } from '../_flow.ts'
import { type Cluster, startCluster } from './_instances.ts'

const NEXT_SECRET = 'the next secret of thirty-two characters or more'

let cluster: Cluster
beforeAll(async () => {
  cluster = await startCluster('postgres', 1)
})
afterAll(() => cluster?.stop())

/** `before`: runs before each request to the server. */
function siteWith(before: () => Promise<void> = async () => {}): Site {
  const { provider, instances } = cluster
  const served = async () => {
    await before()
    return instances[0].url
  }
  return { url: PUBLIC_URL, provider, send: behindProxy(PUBLIC_URL, served) }
}

async function restart(variables = {}): Promise<void> {
  const [server] = cluster.instances
  await server.kill()
  await server.start(variables)
}

it('kill -9 between any two requests of a flow → it goes on, and who was connected still is', async () => {
  const others = [new Visitor(siteWith()), new Visitor(siteWith())]
  for (const other of others) await other.signIn()
  let kills = 0

  await wholeFlow(
    siteWith(async () => {
      kills++
      await restart()
    }),
  )

  expect(kills).toBeGreaterThan(25)
  for (const other of others) {
    const before = await other.call()
    other.loseAccessToken()
    expect((await other.call()).sub).toBe(before.sub)
  }
})

it('kill -9 while a token is refreshed, or before the client has the answer → it asks again, and is connected', async () => {
  const site = siteWith()
  const [server] = cluster.instances
  const visitor = new Visitor(site)
  await visitor.signIn()
  const { sub } = await visitor.call()
  for (let round = 0; round < 12; round++) {
    const dying: Site = {
      ...site,
      async send(input, init) {
        const asked = site.send(input, init)
        if (!String(input).endsWith('/oauth/token')) return asked
        const over = Promise.allSettled([asked])
        // At any moment of the request in one half of the rounds, and after all of it in the other.
        await (round % 2 === 0 ? new Promise((resolve) => setTimeout(resolve, round)) : over)
        await server.kill()
        await over
        throw new TypeError('The connection was lost.')
      },
    }
    visitor.loseAccessToken()
    const unlucky = new Visitor(dying)
    unlucky.stored = visitor.stored.map(([key, value]) => [key, value])
    expect(await unlucky.act()).toHaveProperty('error')
    await server.start()
    expect((await visitor.call()).sub).toBe(sub)
  }
})

it('a new MAYFLY_SECRET with the old one after it → flows and connections go on; what was made since needs it no more', async () => {
  const site = siteWith()
  const [connected, unused, halfway] = [new Visitor(site), new Visitor(site), new Visitor(site)]
  for (const visitor of [connected, unused]) await visitor.signIn()
  const { sub } = await connected.call()
  const question = await halfway.toQuestion(await halfway.turnedAway())

  await restart({ MAYFLY_SECRET: `${NEXT_SECRET},${SECRET}` })

  expect(await halfway.act(await halfway.agree(question))).not.toHaveProperty('error')
  expect((await halfway.call()).sub).toBe(sub)
  for (const visitor of [connected, unused]) {
    expect((await visitor.call()).sub).toBe(sub)
    visitor.loseAccessToken()
    expect((await visitor.call()).sub).toBe(sub)
  }

  await restart({ MAYFLY_SECRET: NEXT_SECRET })

  // What the provider gave to the others is sealed again while they are used, so the old secret stays for `unusedDays`.
  expect((await halfway.call()).sub).toBe(sub)
  halfway.loseAccessToken()
  expect((await halfway.call()).sub).toBe(sub)
})

it('the person disconnects an app though each request meets a new process', () =>
  disconnected(siteWith(restart)))
