/** What a question may be holds whichever way it is asked, also by tools of an SDK, and of clients of both eras. */

import { describe, expect, it } from 'vitest'
import { createTool, type SdkToolContext } from '../../../src/sdk-context.ts'
import { createServer, textOf } from '../_client.ts'
import { askedIn, round } from './_rounds.ts'
import { openSession } from './_session.ts'

/** Every way to ask by parameters as they are on the wire. */
const WAYS: readonly (readonly [string, (ctx: SdkToolContext, params: never) => unknown])[] = [
  ['ctx.elicit', (ctx, params) => ctx.elicit(params)],
  ['elicitInput', (ctx, params) => ctx.elicitInput?.(params)],
  ['mcpReq.elicitInput', (ctx, params) => ctx.mcpReq.elicitInput(params)],
  ['mcpReq.send', (ctx, params) => ctx.mcpReq.send({ method: 'elicitation/create', params })],
  ['sendRequest', (ctx, params) => ctx.sendRequest({ method: 'elicitation/create', params })],
  [
    'a returned question',
    (_ctx, params) => ({
      resultType: 'input_required',
      inputRequests: { a: { method: 'elicitation/create', params } },
    }),
  ],
]

const form = (properties: object) => ({
  message: '?',
  requestedSchema: { type: 'object', properties, required: [] },
})

const REFUSED: readonly (readonly [string, object, RegExp])[] = [
  ['a password', form({ password: { type: 'string' } }), /"password" looks like a secret.*URL mode/],
  ['a nested object', form({ place: { type: 'object', properties: {} } }), /"place" has the type "object"/],
  ['a pattern', form({ code: { type: 'string', pattern: '^(a+)+$' } }), /"code" uses "pattern"/],
  ['a script', { mode: 'url', message: '?', url: 'javascript:alert(1)' }, /http\(s\) URL/],
  ['a file', { mode: 'url', message: '?', url: 'file:///etc/passwd' }, /http\(s\) URL/],
  ['a path', { mode: 'url', message: '?', url: '/login' }, /http\(s\) URL/],
]

const serverOf = (ask: (ctx: SdkToolContext) => unknown) =>
  createServer({
    secret: 'a-secret-of-the-tests-that-is-long-enough',
    tools: { t: createTool({ id: 't', execute: (_input, ctx) => ask(ctx) }) },
  })

describe.each(WAYS)('%s', (_way, ask) => {
  it.each(REFUSED)(
    '%s → not asked, and the field or what is expected is named [ask.sensitive] [ask.form]',
    async (_what, params, said) => {
      const server = serverOf((ctx) => ask(ctx, params as never))
      const answer = await round(server, { name: 't' })
      expect(answer.result?.isError).toBe(true)
      expect(textOf(answer)).toMatch(said)

      const session = openSession(server, () => ({ action: 'decline' }))
      const told = await session.call('tools/call', { name: 't' })
      expect(JSON.stringify(told.result)).toMatch(new RegExp(said.source.replaceAll('"', '\\\\"')))
      expect(session.asked).toEqual([])
    },
  )

  it('what may be asked is [ask.form]', async () => {
    const server = serverOf((ctx) => ask(ctx, form({ name: { type: 'string' } }) as never))
    expect(askedIn(await round(server, { name: 't' }))).toHaveLength(1)
  })
})
