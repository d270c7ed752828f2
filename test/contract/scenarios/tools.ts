/** Listing and calling tools. */
import { describe, expect, it } from 'vitest'
import { CLIENTS, type Connection, MODERN_CLIENTS } from '../clients.ts'
import type { Endpoint } from '../contract.ts'
import { modernRequest } from '../wire.ts'

const NAMES = [
  'echo',
  'add',
  'picture',
  'fail',
  'steps',
  'release',
  'speak',
  'watch',
  'wait',
  'outlive',
  'inside',
]
const ALL_NAMES = [...NAMES, 'observe', 'announce', 'whoami']

async function listNames({ client }: Connection): Promise<string[]> {
  const names: string[] = []
  let cursor: string | undefined
  do {
    const page = await client.listTools(cursor === undefined ? undefined : { cursor })
    names.push(...page.tools.map(({ name }) => name))
    cursor = page.nextCursor
  } while (cursor !== undefined)
  return names
}

export function tools(endpoint: Endpoint, sharesMemory: boolean): void {
  describe.each(CLIENTS)('tools with $kind', ({ connect }) => {
    it('every page is listed, in order of definition [tools.order] [pagination.pages]', async () => {
      await using connection = await connect(endpoint())

      expect(await listNames(connection)).toEqual(ALL_NAMES)
    })

    it('a tool is listed with title and schemas [tools.list]', async () => {
      await using connection = await connect(endpoint())

      const { tools } = await connection.client.listTools()

      expect(tools.find(({ name }) => name === 'add')).toMatchObject({
        title: 'Add',
        inputSchema: { type: 'object', required: ['a', 'b'] },
        outputSchema: { type: 'object', required: ['sum'] },
        annotations: { readOnlyHint: true },
      })
    })

    it('a string is text [results.text]', async () => {
      await using connection = await connect(endpoint())

      const { content } = await connection.call('echo', { text: 'Żółw 🐢' })

      expect(content).toEqual([{ type: 'text', text: 'Żółw 🐢' }])
    })

    it('a value under an output schema is structured content [results.output-schema]', async () => {
      await using connection = await connect(endpoint())
      await connection.client.listTools() // from now on the client validates what comes back

      const { structuredContent } = await connection.call('add', { a: 2, b: 40 })

      expect(structuredContent).toEqual({ sum: 42 })
    })

    it('an image arrives as it is [results.content]', async () => {
      await using connection = await connect(endpoint())

      const { content } = await connection.call('picture')

      expect(content).toEqual([{ type: 'image', data: 'R0lGODlhAQABAAAAADs=', mimeType: 'image/gif' }])
    })

    it('a tool that throws is an error result without a stack [tools.thrown-error]', async () => {
      await using connection = await connect(endpoint())

      const { isError, content } = await connection.call('fail')

      expect(isError).toBe(true)
      expect(content).toEqual([{ type: 'text', text: 'The pond is dry.' }])
    })

    it('invalid arguments → an error result that names each field [tools.invalid-arguments]', async () => {
      await using connection = await connect(endpoint())

      const { isError, content } = await connection.call('add', { a: 'two' })

      expect(isError).toBe(true)
      expect(JSON.stringify(content)).toMatch(/\ba: .*\bb: /)
    })

    it('an unknown tool → -32602 [tools.unknown]', async () => {
      await using connection = await connect(endpoint())

      await expect(connection.call('no-such-tool')).rejects.toMatchObject({ code: -32602 })
    })

    it('20 calls at once get 20 answers, each its own', async () => {
      await using connection = await connect(endpoint())
      const texts = Array.from({ length: 20 }, (_, index) => `call ${index}`)

      const answers = await Promise.all(
        // The first to be called is the last to answer.
        texts.map((text, index) => connection.call('echo', { text, afterMs: (20 - index) * 5 })),
      )

      expect(answers.map(({ content }) => content)).toEqual(texts.map((text) => [{ type: 'text', text }]))
    })

    it('what setup shows to one client no other sees, even at the same time [setup.isolation]', async () => {
      await using keeper = await connect(endpoint(), { 'x-keeper': 'yes' })
      await using visitor = await connect(endpoint())

      const lists = await Promise.all([keeper, visitor, keeper, visitor].map(listNames))

      expect(lists).toEqual([[...ALL_NAMES, 'guarded'], ALL_NAMES, [...ALL_NAMES, 'guarded'], ALL_NAMES])
      await expect(visitor.call('guarded')).rejects.toMatchObject({ code: -32602 })
      expect(await keeper.call('guarded')).toMatchObject({ content: [{ text: 'open' }] })
    })

    it.skipIf(!sharesMemory)('waitUntil goes on after the answer [context.wait-until]', async () => {
      await using connection = await connect(endpoint())
      const id = crypto.randomUUID()

      await connection.call('outlive', { id })

      await expect
        .poll(async () => (await connection.call('observe')).structuredContent)
        .toMatchObject({ finished: expect.arrayContaining([id]) })
    })
  })

  it.each(MODERN_CLIENTS)(
    '$kind: a question inside a step is an error at once, in what was built [ask.inside-step]',
    async ({ connect }) => {
      await using connection = await connect(endpoint())

      const { isError, content } = await connection.call('inside')

      expect([isError, content]).toEqual([
        true,
        [{ type: 'text', text: expect.stringContaining('inside the step "book"') }],
      ])
    },
  )

  it.each(MODERN_CLIENTS)(
    '$kind repeats a declared parameter in a header [headers.param]',
    async ({ connect }) => {
      await using connection = await connect(endpoint())
      await connection.client.listTools()

      const { structuredContent } = await connection.call('whoami', { region: 'süd' })

      // Not plain ASCII, so it travels as Base64.
      expect(structuredContent).toMatchObject({ regionHeader: '=?base64?c8O8ZA==?=' })
    },
  )

  it('a declared parameter without its header → 400, -32020 [headers.param]', async () => {
    const params = { name: 'whoami', arguments: { region: 'north' } }

    const response = await fetch(modernRequest(endpoint(), 'tools/call', params))

    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ id: 1, error: { code: -32020 } })
  })

  it('a cursor of somebody else → -32602 [pagination.cursor]', async () => {
    const response = await fetch(modernRequest(endpoint(), 'tools/list', { cursor: 'p3' }))

    expect(await response.json()).toMatchObject({ error: { code: -32602 } })
  })
}
