/**
 * Old and new code run side by side for minutes, and after a rollback only the old: sealed states and session ids of both are opened by both. They
 * are sealed by hand here, in the form of the first version, and with what a later version could add.
 */
import { createCipheriv, createDecipheriv, createHash, hkdfSync } from 'node:crypto'
import { inflateRawSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { createTool } from '../../src/index.ts'
import { createServer, legacy, textOf } from './_client.ts'
import { accept, askedIn, round } from './asking/_rounds.ts'

const secret = 'a-secret-of-the-tests-that-is-long-enough'

const derive = (purpose: string, length: number) =>
  Buffer.from(hkdfSync('sha256', secret, 'mayfly-mcp/seal/1', `${purpose}:test`, length))

/** `1.`, then key id, nonce, and AES-256-GCM of a byte that says "not compressed" and JSON. */
function sealByHand(content: readonly unknown[]): string {
  const nonce = Buffer.alloc(12, 7)
  const cipher = createCipheriv('aes-256-gcm', derive('key', 32), nonce)
  const plain = Buffer.concat([Buffer.of(0), Buffer.from(JSON.stringify(content))])
  const sealed = Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()])
  return `1.${Buffer.concat([derive('id', 4), nonce, sealed]).toString('base64url')}`
}

function openByHand(token: string): unknown[] {
  const bytes = Buffer.from(token.slice(2), 'base64url')
  const decipher = createDecipheriv('aes-256-gcm', derive('key', 32), bytes.subarray(4, 16))
  decipher.setAuthTag(bytes.subarray(-16))
  const content = Buffer.concat([decipher.update(bytes.subarray(16, -16)), decipher.final()])
  const body = content.subarray(1)
  return JSON.parse((content[0] === 1 ? inflateRawSync(body) : body).toString('utf8')) as unknown[]
}

/** What a call without arguments of an anonymous caller is bound to. */
const boundTo = (era: string, method: string, target: string, args = '{}') => [
  era,
  method,
  target,
  createHash('sha256').update(args).digest('base64url'),
  '',
]

const later = () => Date.now() + 60_000

describe('a sealed state', () => {
  let loaded = 0
  const ask = createTool({
    id: 'ask',
    execute: async (_input, ctx) => {
      const value = await ctx.step('load', () => `again ${++loaded}`)
      const one = await ctx.elicit('One?', z.object({ yes: z.boolean() }))
      const two = await ctx.elicit('Two?', z.object({ yes: z.boolean() }))
      return [value, one.action, two.action].join()
    },
  })
  const server = createServer({ tools: { ask }, secret })
  const OLD = { answers: {}, steps: { load: ['once'] }, refusals: {}, unread: {} }
  const ADDED = { branches: { a: ['kept'] }, priority: 3 }

  async function answered(state: string | undefined) {
    const asked = await round(server, { name: 'ask', requestState: state })
    const [{ key = '' } = {}] = askedIn(asked)
    const requestState = asked.result?.requestState as string
    const answer = await round(server, {
      name: 'ask',
      requestState,
      inputResponses: { [key]: accept({ yes: true }) },
    })
    return { answer, requestState, key }
  }

  it.each([
    ['of the first version', [OLD], {}],
    ['of a newer version, with more members, kinds and bindings', [{ ...OLD, ...ADDED }, { more: 1 }], ADDED],
  ])(
    '%s is opened, its steps do not run again, and what is unknown is in each state after it',
    async (_whose, parts, kept) => {
      const more = parts.length > 1 ? ['a newer binding'] : []
      const bound = [...boundTo('modern', 'tools/call', 'ask'), ...more]

      const first = await answered(sealByHand([later(), bound, ...parts]))
      expect(openByHand(first.requestState)[2]).toMatchObject({ ...kept, steps: { load: ['once'] } })
      const second = await answered(first.answer.result?.requestState as string)

      expect(openByHand(first.answer.result?.requestState as string)[2]).toMatchObject(kept)
      expect(textOf(second.answer)).toBe('once,accept,accept')
      expect(loaded).toBe(0)
    },
  )

  it('of this version can be opened by the first: its form, and what that version reads', async () => {
    const { requestState } = await answered(undefined)
    const [expiresAt, bound, journal] = openByHand(requestState) as [number, string[], typeof OLD]
    expect(expiresAt).toBeGreaterThan(Date.now())
    expect(bound.slice(0, 5)).toEqual(boundTo('modern', 'tools/call', 'ask'))
    expect(journal).toMatchObject({ answers: {}, steps: { load: ['again 1'] }, refusals: {}, unread: {} })
  })
})

describe('a session id', () => {
  const who = createTool({ id: 'who', execute: (_input, ctx) => JSON.stringify(ctx.clientCapabilities) })
  const CAPABILITIES = { roots: {}, later: {} }
  const plain = (content: unknown) => `mayfly1.${Buffer.from(JSON.stringify(content)).toString('base64url')}`
  const sealed = (content: unknown, more: readonly string[] = []) =>
    `mayfly2.${sealByHand([later(), [...boundTo('legacy', 'initialize', ''), ...more], content])}`
  const DECLARED = ['2025-11-25', { name: 'unit', version: '1' }, CAPABILITIES]

  it.each([
    ['of the first version, plain', undefined, plain(DECLARED), CAPABILITIES],
    ['of the first version, sealed', secret, sealed(DECLARED), CAPABILITIES],
    ['of a newer version, plain', undefined, plain([...DECLARED, { more: 1 }]), CAPABILITIES],
    ['of a newer version, sealed', secret, sealed([...DECLARED, { more: 1 }], ['more']), CAPABILITIES],
    ['in a form that only a newer version can read', secret, 'mayfly3.AAAA', {}],
    ['with a revision that only a newer version knows', undefined, plain(['2031-01-01', null, {}]), {}],
  ])('%s: the call is served', async (_whose, key, token, capabilities) => {
    const server = createServer({ tools: { who }, ...(key !== undefined && { secret: key }) })
    const headers = { 'mcp-session-id': token }
    const answer = await legacy(server, 'tools/call', { name: 'who' }, { headers })
    expect([answer.status, JSON.parse(textOf(answer)!)]).toEqual([200, capabilities])
  })
})
