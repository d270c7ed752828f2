/** Signatures of deliveries, verified by the library of Standard Webhooks. */
import { Webhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import { checkSecret, messageId, signHeaders } from '../../../../src/mcp-events/deliver/sign.ts'
import { createSecret } from '../../webhook/_sender.ts'

const now = (): number => Math.floor(Date.now() / 1000)
const secretOf = (bytes: number): string => `whsec_${Buffer.alloc(bytes, 'x').toString('base64')}`

describe('the signature', () => {
  it.each(['{"a":"b"}', '', '{"text":"漢🦋 é"}', 'x'.repeat(256 * 1024)])(
    'of a body is that of the library',
    async (body) => {
      const secret = createSecret()
      const at = now()
      const headers = await signHeaders([secret], 'evt_1', at, body)
      expect(headers).toEqual({
        'content-type': 'application/json',
        'webhook-id': 'evt_1',
        'webhook-timestamp': String(at),
        'webhook-signature': new Webhook(secret).sign('evt_1', new Date(at * 1000), body),
      })
    },
  )

  it('while a secret is replaced: one for each, and either verifies', async () => {
    const [old, fresh, other] = [createSecret(), createSecret(), createSecret()]
    const body = '{"eventId":"evt_1"}'
    const headers = await signHeaders([fresh, old], 'evt_1', now(), body)
    expect(headers['webhook-signature']).toMatch(/^v1,[\w+/]{43}= v1,[\w+/]{43}=$/)
    for (const secret of [old, fresh])
      expect(new Webhook(secret).verify(body, headers)).toEqual({ eventId: 'evt_1' })
    expect(() => new Webhook(other).verify(body, headers)).toThrow()
    expect(() => new Webhook(old).verify(`${body} `, headers)).toThrow()
    expect(() => new Webhook(old).verify(body, { ...headers, 'webhook-id': 'evt_2' })).toThrow()
  })

  it('of no secret, or of one that cannot be used → TypeError without it', async () => {
    await expect(signHeaders([], 'a', 1, '')).rejects.toThrow(TypeError)
    const signed = signHeaders([createSecret(), 'whsec_hunter2'], 'a', 1, '')
    await expect(signed).rejects.toThrow(TypeError)
    await expect(signed).rejects.not.toThrow('hunter2')
  })

  it('ids of messages differ, and can be signed', () => {
    expect(messageId('verification')).toMatch(/^msg_verification_[\w-]{22}$/)
    expect(messageId('gap')).not.toBe(messageId('gap'))
  })
})

describe('a secret', () => {
  it.each([24, 32, 64])('of %d bytes is taken', (bytes) => {
    expect(checkSecret(secretOf(bytes))).toBe(secretOf(bytes))
  })

  it.each([
    ['too short', secretOf(23)],
    ['too long', secretOf(65)],
    ['very long', secretOf(100_000)],
    ['without a prefix', secretOf(32).slice(6)],
    ['with another prefix', `WHSEC_${secretOf(32).slice(6)}`],
    ['in base64url', `whsec_${Buffer.alloc(32, 0xff).toString('base64url')}`],
    ['with a line break', `${secretOf(32)}\n`],
    ['that is empty', 'whsec_'],
    ['that is none', 'whsec_****************************************'],
    ['that is no text', 5],
    ['that is missing', undefined],
  ])('%s → -32602 without it', (_what, secret) => {
    const check = (): string => checkSecret(secret)
    expect(check).toThrow(expect.objectContaining({ code: -32602 }))
    expect(check).toThrow(
      /^Invalid params: "delivery.secret" must be "whsec_" and 24 to 64 random bytes in base64\.$/,
    )
  })
})
