/** The challenge before the first delivery: only the owner of the URL, who has the secret, answers with it (SEP-3415, "Webhook Security"). */
import { randomBase64Url } from '../../definition/base64.ts'
import { isSameDigest, sha256 } from '../../definition/digest.ts'
import { isObject } from '../../definition/is-object.ts'
import type { PostOutcome, VerifyEndpoint } from '../contract.ts'
import { isAccepted, toDeliveryError } from './outcome.ts'
import { messageId, signHeaders } from './sign.ts'

/** Bytes of an answer to a challenge. */
const MAX_ANSWER_BYTES = 4096

/**
 * Sends a random challenge, signed like a delivery, and compares what comes back. The challenge is used once.
 *
 * @throws what `sender` rejects with: the reason of an aborted signal.
 */
export const verifyEndpoint: VerifyEndpoint = async (
  sender,
  { url, subscriptionId, secrets, timeoutMs, signal },
) => {
  const challenge = randomBase64Url(16)
  const body = JSON.stringify({ type: 'verification', challenge })
  const signed = await signHeaders(secrets, messageId('verification'), Math.floor(Date.now() / 1000), body)
  const headers = { ...signed, 'x-mcp-subscription-id': subscriptionId }
  const outcome = await sender.post(
    url,
    { headers, body },
    { timeoutMs, signal, maxBodyBytes: MAX_ANSWER_BYTES },
  )
  if (await isEcho(outcome, challenge)) return { isVerified: true }
  const isWrong = isAccepted(outcome) || ('failure' in outcome && outcome.failure === 'too-large')
  return { isVerified: false, reason: isWrong ? 'challenge_failed' : toDeliveryError(outcome) }
}

async function isEcho(outcome: PostOutcome, challenge: string): Promise<boolean> {
  const answer = isAccepted(outcome) && 'status' in outcome ? parse(outcome.body) : undefined
  const echoed = isObject(answer) && typeof answer.challenge === 'string' ? answer.challenge : ''
  // By digests, so that the time of the comparison says nothing about the challenge.
  return isSameDigest(await sha256(echoed), await sha256(challenge))
}

function parse(text = ''): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
