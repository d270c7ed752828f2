/** Resources, prompts, and the completion of their arguments. */
import { describe, expect, it } from 'vitest'
import { CLIENTS } from '../clients.ts'
import type { Endpoint } from '../contract.ts'
import { legacyRequest, modernRequest } from '../wire.ts'

export function resourcesAndPrompts(endpoint: Endpoint): void {
  describe.each(CLIENTS)('resources and prompts with $kind', ({ connect }) => {
    it('resources and templates are listed [resources.list]', async () => {
      await using connection = await connect(endpoint())

      const { resources } = await connection.client.listResources()
      const { resourceTemplates } = await connection.client.listResourceTemplates()

      expect(resources.map(({ uri }) => uri)).toEqual(['pond://depth', 'pond://map'])
      expect(resourceTemplates).toMatchObject([{ uriTemplate: 'pond://fish/{name}', name: 'fish' }])
    })

    it.each([
      ['text', 'pond://depth', { mimeType: 'text/plain', text: '2 m' }],
      ['bytes', 'pond://map', { mimeType: 'application/octet-stream', blob: 'AP8H' }],
      ['what a template matches', 'pond://fish/Z%C3%A4hrte', { mimeType: 'text/plain', text: 'A Zährte' }],
    ])('reads %s [resources.read] [resources.template]', async (_what, uri, contents) => {
      await using connection = await connect(endpoint())

      const result = await connection.client.readResource({ uri })

      expect(result.contents).toEqual([{ uri, ...contents }])
    })

    it('an unknown URI is refused by name [resources.unknown-modern] [resources.unknown-legacy]', async () => {
      await using connection = await connect(endpoint())
      const uri = 'pond://nothing'

      await expect(connection.client.readResource({ uri })).rejects.toMatchObject({ data: { uri } })
    })

    it('prompts are listed with their arguments [prompts.list]', async () => {
      await using connection = await connect(endpoint())

      const { prompts } = await connection.client.listPrompts()

      expect(prompts).toMatchObject([
        {
          name: 'describe',
          arguments: [
            { name: 'fish', required: true },
            { name: 'tone', required: false },
          ],
        },
      ])
    })

    it('a prompt is filled in [prompts.get]', async () => {
      await using connection = await connect(endpoint())

      const { messages } = await connection.client.getPrompt({
        name: 'describe',
        arguments: { fish: 'pike', tone: 'wet' },
      })

      expect(messages).toEqual([
        { role: 'user', content: { type: 'text', text: 'Describe a pike in a wet tone.' } },
      ])
    })

    it('a missing argument → -32602 that names it [prompts.arguments]', async () => {
      await using connection = await connect(endpoint())

      await expect(connection.client.getPrompt({ name: 'describe' })).rejects.toMatchObject({
        code: -32602,
        message: expect.stringContaining('fish'),
      })
    })

    it('an unknown prompt → -32602 [prompts.unknown]', async () => {
      await using connection = await connect(endpoint())

      await expect(connection.client.getPrompt({ name: 'nothing' })).rejects.toMatchObject({ code: -32602 })
    })

    it.each([
      ['prompt', { type: 'ref/prompt', name: 'describe' }, { name: 'tone', value: 'w' }, ['wet']],
      [
        'template',
        { type: 'ref/resource', uri: 'pond://fish/{name}' },
        { name: 'name', value: 'p' },
        ['perch', 'pike'],
      ],
    ] as const)(
      'the arguments of a %s are completed [completion.values]',
      async (_what, ref, argument, values) => {
        await using connection = await connect(endpoint())

        const { completion } = await connection.client.complete({ ref, argument })

        expect(completion.values).toEqual(values)
      },
    )
  })

  // SDK v2 shows its callers one code for both eras, so the wire is looked at.
  it.each([
    ['modern', -32602, modernRequest],
    ['legacy', -32002, legacyRequest],
  ] as const)(
    'an unknown URI in the %s era → %s [resources.unknown-modern]',
    async (_era, code, toRequest) => {
      const response = await fetch(toRequest(endpoint(), 'resources/read', { uri: 'pond://nothing' }))

      expect(response.status).toBe(200)
      expect(await response.json()).toMatchObject({ id: 1, error: { code, data: { uri: 'pond://nothing' } } })
    },
  )
}
