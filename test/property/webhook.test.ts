/** A webhook that was changed on its way is refused. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { CHANGE, createFixture, createSecret, sign, webhookRequest } from '../unit/webhook/_sender.ts'
import { check } from './_seeded.ts'

const { webhook, published } = createFixture()

const BODY = '{"type":"resourceUpdated","uri":"note://today"}'
const timestamp = () => String(Math.floor(Date.now() / 1000))
const send = async (request: Request) => (await webhook(request)).status

it('any change of any byte of the body → 401 [webhook.signature]', () =>
  check(
    fc.asyncProperty(
      fc.nat(BODY.length),
      fc.integer({ min: 0, max: 255 }),
      fc.constantFrom('replace', 'insert', 'remove'),
      async (position, byte, change) => {
        const bytes = [...Buffer.from(BODY)]
        bytes.splice(position, change === 'insert' ? 0 : 1, ...(change === 'remove' ? [] : [byte]))
        const body = new Uint8Array(bytes)
        fc.pre(!Buffer.from(BODY).equals(body))
        const [id, sentAt] = ['msg_1', timestamp()]
        const signature = sign(id, sentAt, BODY)
        expect(await send(webhookRequest({ id, timestamp: sentAt, body, signature }))).toBe(401)
      },
    ),
    500,
  ))

it('a byte order mark before the body → 401 [webhook.signature]', async () => {
  const sentAt = timestamp()
  const body = new Uint8Array([0xef, 0xbb, 0xbf, ...Buffer.from(BODY)])
  const signature = sign('msg_1', sentAt, BODY)
  expect(await send(webhookRequest({ id: 'msg_1', timestamp: sentAt, body, signature }))).toBe(401)
})

it('any change of any character of a header → 401 [webhook.signature]', () =>
  check(
    fc.asyncProperty(
      fc.constantFrom('id', 'timestamp', 'signature'),
      fc.nat(),
      fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
      fc.constantFrom('replace', 'insert', 'remove'),
      async (header, position, character, change) => {
        const sentAt = timestamp()
        const sent = { id: 'msg_1', timestamp: sentAt, signature: sign('msg_1', sentAt, CHANGE) }
        const text = sent[header as keyof typeof sent]
        const at = position % text.length
        const changed =
          text.slice(0, at) +
          (change === 'remove' ? '' : character) +
          text.slice(change === 'insert' ? at : at + 1)
        fc.pre(changed !== text)
        expect(await send(webhookRequest({ ...sent, [header]: changed }))).toBe(401)
      },
    ),
    1000,
  ))

it('the bits that base64 leaves unused → 401 [webhook.signature]', async () => {
  const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
  const sentAt = timestamp()
  const signature = sign('msg_1', sentAt, CHANGE)
  const last = ALPHABET.indexOf(signature.at(-2)!)
  expect(last % 4).toBe(0)
  for (const unused of [1, 2, 3]) {
    const changed = `${signature.slice(0, -2)}${ALPHABET[last + unused]}=`
    expect(Buffer.from(changed.slice(3), 'base64')).toEqual(Buffer.from(signature.slice(3), 'base64'))
    expect(await send(webhookRequest({ id: 'msg_1', timestamp: sentAt, signature: changed }))).toBe(401)
  }
})

it('any secret but ours → 401 [webhook.signature]', () =>
  check(
    fc.asyncProperty(fc.noShrink(fc.constant(null)), async () => {
      expect(await send(webhookRequest({ secret: createSecret() }))).toBe(401)
    }),
    50,
  ))

it('nothing of all that was published [webhook.signature]', () => {
  expect(published).toEqual([])
})
