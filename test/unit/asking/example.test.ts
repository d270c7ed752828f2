/** The asking example, as its comments promise, with clients of both eras. */
import { expect, it } from 'vitest'
import server from '../../../examples/asking/server.ts'
import { legacy, textOf } from '../_client.ts'
import { accept, converse, round } from './_rounds.ts'

const env = { MAYFLY_SECRET: 'a-secret-of-the-tests-that-is-long-enough' }

it('delete-file: confirmed, without a secret → deleted', async () => {
  const params = { name: 'delete-file', arguments: { path: 'notes.txt' } }
  const { answer, rounds } = await converse(server, params, () => accept({ confirm: true }))
  expect([textOf(answer), rounds]).toEqual(['notes.txt was deleted', 2])
})

it('book-table: three questions and two steps → one booking', async () => {
  const answers: Record<string, object> = {
    'For how many?': { guests: 4 },
    'When?': { time: '18:00' },
    'Where do we send the confirmation?': { email: 'ada@example.com' },
  }
  const { answer, rounds } = await converse(
    server,
    { name: 'book-table' },
    ({ params }) => accept(answers[params.message!]!),
    { platform: { env } },
  )
  expect(rounds).toBe(4)
  expect(answer.result?.structuredContent).toMatchObject({
    guests: 4,
    time: '18:00',
    email: 'ada@example.com',
  })
})

it('connect-account: a client without URL mode → told where to go instead', async () => {
  const answer = await round(server, { name: 'connect-account' }, { capabilities: {} })
  expect(textOf(answer)).toContain('https://example.com/connect')
})

it('delete-file, legacy → explained', async () => {
  const answer = await legacy(server, 'tools/call', { name: 'delete-file', arguments: { path: 'x' } })
  expect(answer.result).toMatchObject({
    isError: true,
    _meta: { 'mayfly/degraded': { feature: 'elicitation.form' } },
  })
})
