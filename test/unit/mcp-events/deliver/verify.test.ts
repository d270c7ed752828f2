/** The challenge before the first delivery, and what a client may learn if it fails. */
import { Webhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import type { EventPost, PostLimits, PostOutcome } from '../../../../src/mcp-events/contract.ts'
import { verifyEndpoint } from '../../../../src/mcp-events/deliver/verify.ts'
import { createSecret } from '../../webhook/_sender.ts'

const secret = createSecret()
const target = {
  url: 'https://hooks.example.com/a',
  subscriptionId: 'sub_1',
  secrets: [secret],
  timeoutMs: 5000,
}

interface Sent extends EventPost {
  readonly url: string
  readonly limits: PostLimits
}

async function verify(answer: (challenge: string) => PostOutcome) {
  const sent: Sent[] = []
  const verdict = await verifyEndpoint(
    {
      async post(url, message, limits) {
        sent.push({ url, ...message, limits })
        return answer((JSON.parse(message.body) as { challenge: string }).challenge)
      },
    },
    target,
  )
  return { verdict, sent: sent[0]! }
}

describe('verifyEndpoint', () => {
  it('sends one signed challenge, with the id of the subscription, and takes its echo', async () => {
    const { verdict, sent } = await verify((challenge) => ({
      status: 200,
      body: JSON.stringify({ challenge }),
    }))
    expect(verdict).toEqual({ isVerified: true })
    expect(sent.url).toBe(target.url)
    expect(sent.headers['x-mcp-subscription-id']).toBe('sub_1')
    expect(sent.headers['webhook-id']).toMatch(/^msg_verification_/)
    expect(new Webhook(secret).verify(sent.body, sent.headers)).toEqual({
      type: 'verification',
      challenge: expect.stringMatching(/^[\w-]{22}$/),
    })
    expect(sent.limits).toEqual({ timeoutMs: 5000, signal: undefined, maxBodyBytes: 4096 })
  })

  it('each challenge is another one', async () => {
    const challenges: string[] = []
    for (let count = 0; count < 3; count++)
      await verify((challenge) => {
        challenges.push(challenge)
        return { status: 500 }
      })
    expect(new Set(challenges).size).toBe(3)
  })

  it.each<[string, (challenge: string) => PostOutcome]>([
    ['the text alone', (challenge) => ({ status: 200, body: challenge })],
    [
      'a part of it',
      (challenge) => ({ status: 200, body: JSON.stringify({ challenge: challenge.slice(1) }) }),
    ],
    [
      'another case',
      (challenge) => ({ status: 200, body: JSON.stringify({ challenge: challenge.toUpperCase() }) }),
    ],
    ['a list', (challenge) => ({ status: 200, body: JSON.stringify({ challenge: [challenge] }) })],
    ['in a list', (challenge) => ({ status: 200, body: JSON.stringify([{ challenge }]) })],
    ['an empty challenge', () => ({ status: 200, body: '{"challenge":""}' })],
    ['null', () => ({ status: 200, body: 'null' })],
    ['nothing', () => ({ status: 204 })],
    ['another challenge', () => ({ status: 200, body: '{"challenge":"AAAA"}' })],
    ['what is no JSON', () => ({ status: 200, body: '<html>' })],
    ['too much', () => ({ failure: 'too-large' })],
  ])('an answer with %s → challenge_failed', async (_what, answer) => {
    expect((await verify(answer)).verdict).toEqual({ isVerified: false, reason: 'challenge_failed' })
  })

  it.each<[PostOutcome, string]>([
    [{ status: 401 }, 'http_4xx'],
    [{ status: 404 }, 'http_4xx'],
    [{ status: 503, retryAfterMs: 1000 }, 'http_5xx'],
    [{ failure: 'timeout' }, 'timeout'],
    [{ failure: 'tls' }, 'tls_error'],
    [{ failure: 'refused' }, 'connection_refused'],
    [{ failure: 'redirect' }, 'connection_refused'],
    // The same for each: otherwise it would tell which names and addresses there are.
    [{ failure: 'dns' }, 'connection_refused'],
    [{ failure: 'address' }, 'connection_refused'],
    [{ failure: 'other' }, 'connection_refused'],
  ])('%j → %s', async (outcome, reason) => {
    expect((await verify(() => outcome)).verdict).toEqual({ isVerified: false, reason })
  })

  it('an echo with an error status is no verification', async () => {
    const { verdict } = await verify((challenge) => ({ status: 404, body: JSON.stringify({ challenge }) }))
    expect(verdict).toEqual({ isVerified: false, reason: 'http_4xx' })
  })
})
