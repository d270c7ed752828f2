/** The server that `npm start` serves, on workerd, as a visitor sees it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CLIENTS, connectV2, MODERN } from '../../contract/clients.ts'
import type { Served } from '../../contract/contract.ts'
import { serveDev } from '../_dev-server.ts'

const PNG_SIGNATURE = '89504e470d0a1a0a'

describe('the showcase on workerd', () => {
  let served: Served
  beforeAll(async () => {
    served = await serveDev('examples/showcase/server.ts', 'cloudflare')
  })
  afterAll(() => served?.stop())

  it.each(CLIENTS)('$kind finds tools, an agent and a workflow', async ({ connect }) => {
    await using connection = await connect(served.url)

    const { tools } = await connection.client.listTools()

    expect(tools.map(({ name }) => name)).toEqual([
      'hatch_forecast',
      'moon_phase',
      'watch_hatch',
      'report_sighting',
      'ask_naturalist',
      'run_field_day',
    ])
  })

  it.each(CLIENTS)('$kind gets a forecast, the same each time', async ({ connect }) => {
    await using connection = await connect(served.url)
    const args = { region: 'tisza', date: '2026-06-15' }

    const { structuredContent } = await connection.call('hatch_forecast', args)

    expect(structuredContent).toMatchObject({ ...args, hatch: 'spectacular' })
    expect(await connection.call('hatch_forecast', args)).toMatchObject({ structuredContent })
  })

  // The new moon of 9 November and the full moon of 24 November 2026 (UTC).
  it.each([
    ['2026-11-09', 'new moon'],
    ['2026-11-24', 'full moon'],
  ])('the moon of %s is a %s, and drawn as a PNG', async (date, phase) => {
    await using connection = await CLIENTS[0]!.connect(served.url)

    const { structuredContent, content } = await connection.call('moon_phase', { date })

    expect(structuredContent).toMatchObject({ date, phase })
    const image = content[1] as { mimeType: string; data: string }
    expect(image.mimeType).toBe('image/png')
    expect(Buffer.from(image.data, 'base64').subarray(0, 8).toString('hex')).toBe(PNG_SIGNATURE)
  })

  it('a watched hatch reports as it goes', async () => {
    await using connection = await CLIENTS[0]!.connect(served.url)
    const seen: number[] = []

    const { structuredContent } = await connection.call(
      'watch_hatch',
      { minutes: 3 },
      { onProgress: ({ progress }) => seen.push(progress) },
    )

    expect(seen).toEqual([1, 2, 3])
    expect(structuredContent).toEqual({ minutes: 3, counted: 18 })
  })

  it('only wardens can close a river', async () => {
    await using visitor = await CLIENTS[0]!.connect(served.url)
    await using warden = await CLIENTS[0]!.connect(served.url, { 'x-tenant': 'wardens' })
    const args = { region: 'alpine', reason: 'high water' }

    await expect(visitor.call('close_river', args)).rejects.toMatchObject({ code: -32602 })
    expect(await warden.call('close_river', args)).toMatchObject({
      content: [{ text: 'alpine is closed today: high water' }],
    })
  })

  it('who listens hears of a sighting, and reads it', async () => {
    await using listener = await connectV2({ pin: MODERN }, served.url)
    await using reporter = await CLIENTS[0]!.connect(served.url)
    const uri = 'sightings://latest'
    const heard = new Promise<string>((resolve) => {
      listener.client.setNotificationHandler('notifications/resources/updated', ({ params }) =>
        resolve(params.uri),
      )
    })
    await listener.client.listen({ resourceSubscriptions: [uri] })

    await reporter.call('report_sighting', { species: 'ephoron-virgo', place: 'the old bridge', count: 3 })

    expect(await heard).toBe(uri)
    const { contents } = await listener.client.readResource({ uri })
    expect(contents[0]).toMatchObject({ text: expect.stringContaining('ephoron-virgo, 3 at the old bridge') })
  })

  it('the naturalist answers, the field day is planned', async () => {
    await using connection = await CLIENTS[0]!.connect(served.url)

    const answer = await connection.call('ask_naturalist', { message: 'What flies in August?' })
    const plan = await connection.call('run_field_day', { region: 'baltic', date: '2026-11-24' })

    expect(JSON.stringify(answer.content)).toContain('August mayfly')
    expect(plan.structuredContent).toMatchObject({
      moon: 'full moon',
      pack: expect.arrayContaining(['warm socks']),
    })
  })

  it('species are completed and read, prompts completed and filled in', async () => {
    await using connection = await CLIENTS[0]!.connect(served.url)
    const { client } = connection

    const species = await client.complete({
      ref: { type: 'ref/resource', uri: 'species://{id}' },
      argument: { name: 'id', value: 'eph' },
    })
    const { contents } = await client.readResource({ uri: `species://${species.completion.values[0]}` })
    const regions = await client.complete({
      ref: { type: 'ref/prompt', name: 'plan_evening' },
      argument: { name: 'region', value: 't' },
    })
    const { messages } = await client.getPrompt({ name: 'plan_evening', arguments: { region: 'tisza' } })

    expect(species.completion.values).toEqual(['ephemera-danica', 'ephoron-virgo'])
    expect(contents[0]).toMatchObject({ text: expect.stringContaining('Green drake') })
    expect(regions.completion.values).toEqual(['tisza'])
    expect(messages).toHaveLength(1)
  })

  it('the page shows it', async () => {
    const page = await (await fetch(new URL('/', served.url), { headers: { accept: 'text/html' } })).text()

    expect(page).toContain('Mayfly Showcase')
    expect(page).toContain(`claude mcp add --transport http mayfly-showcase ${served.url.href}`)
  })
})
