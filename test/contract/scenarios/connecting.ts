/** Meeting the server: who it is, what it can do, and what it knows of its caller. */
import { describe, expect, it } from 'vitest'
import { CLIENTS, LEGACY_CLIENTS, MODERN_CLIENTS } from '../clients.ts'
import type { Endpoint } from '../contract.ts'

export function connecting(endpoint: Endpoint, streams: boolean): void {
  describe.each(CLIENTS)('connecting with $kind', ({ connect, era, protocolVersion }) => {
    it('the server says who it is and how to use it [modern.discover] [legacy.initialize]', async () => {
      await using connection = await connect(endpoint())

      expect(connection.client.getServerVersion()).toMatchObject({ name: 'Contract', version: '1.2.3' })
      expect(connection.client.getInstructions()).toBe('Ask the pond.')
    })

    it('a tool knows era, version, client and capabilities [context.facts] [legacy.session]', async () => {
      await using connection = await connect(endpoint())

      const { structuredContent } = await connection.call('whoami')

      expect(structuredContent).toMatchObject({
        era,
        protocolVersion,
        clientInfo: { name: 'contract-test', version: '4.5.6' },
        clientCapabilities: { roots: {} },
      })
    })
  })

  const offered = { tools: {}, prompts: {}, resources: {}, completions: {}, ...(streams && { logging: {} }) }

  it.skipIf(!streams).each(MODERN_CLIENTS)(
    '$kind is offered change notifications, as there is a bus [modern.discover]',
    async ({ connect }) => {
      await using connection = await connect(endpoint())

      expect(connection.client.getServerCapabilities()).toEqual({
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { listChanged: true, subscribe: true },
        completions: {},
        logging: {},
      })
    },
  )

  it.each(streams ? LEGACY_CLIENTS : CLIENTS)(
    '$kind is offered none, as nothing could bring them [modern.discover] [legacy.initialize]',
    async ({ connect }) => {
      await using connection = await connect(endpoint())

      expect(connection.client.getServerCapabilities()).toEqual(offered)
    },
  )

  it('clients of both eras use one endpoint at the same time', async () => {
    const answers = await Promise.all(
      CLIENTS.map(async ({ connect }) => {
        await using connection = await connect(endpoint())
        return await connection.call('whoami')
      }),
    )

    expect(answers.map(({ structuredContent }) => (structuredContent as { era: string }).era)).toEqual(
      CLIENTS.map(({ era }) => era),
    )
  })
}
