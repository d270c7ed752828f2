/** `events/subscribe` (SEP-3415, "Webhook-Based Delivery"). */
import { toMembers } from '../definition/json-members.ts'
import type { MethodResult } from '../request/method-result.ts'
import { type Params, stringParam } from '../request/params.ts'
import type { RequestScope } from '../request/request-server.ts'
import { patternOf, shortDigest, subscriptionIdOf } from './canonical.ts'
import { countChallenge } from './challenges.ts'
import { type Core, maySubscribe } from './core.ts'
import { untilMade } from './data.ts'
import { checkCallbackUrl } from './deliver/callback-url.ts'
import { checkSecret } from './deliver/sign.ts'
import { verifyEndpoint } from './deliver/verify.ts'
import { callbackError, forbidden } from './errors.ts'
import { grant, type Wanted } from './grant.ts'
import { subscriptionKey, verifiedKey } from './keys.ts'
import { endedWrites } from './life.ts'
import {
  argumentsParam,
  cursorParam,
  deliveryParam,
  millisecondsParam,
  requirePrincipal,
  typeParam,
} from './params.ts'
import { unlistedWrites } from './places.ts'
import { isEnded, type Subscription, toWrites } from './record.ts'
import { giveBack, reserve } from './reservation.ts'
import { ended } from './turn.ts'

const VERIFY_TIMEOUT_MS = 8000

export async function subscribe(core: Core, scope: RequestScope, params: Params): Promise<MethodResult> {
  const { data } = core
  const wanted = await read(core, scope, params)
  const { id, url, fresh } = wanted
  const reservation = await reserve(core, { id, owner: fresh.owner, isInPast: wanted.cursor !== null })
  try {
    const type = core.settings.types.get(fresh.type)!
    const subscriber = { principal: fresh.principal, auth: fresh.auth, env: scope.context.env }
    if (!(await maySubscribe(type, fresh.args, subscriber))) {
      await end(core, id)
      throw forbidden('This caller may not subscribe to the event with these arguments.')
    }
    const verified = verifiedKey(fresh.owner, await shortDigest(url))
    if (!isAllowed(core, url) && (await data.read(verified)) === undefined) await verify(core, wanted)
    const granted = await grant(core, wanted, reservation, verified)
    return { members: toMembers(granted) }
  } catch (error) {
    await giveBack(core, id, fresh.owner, reservation).catch(core.report)
    throw error
  }
}

async function read(core: Core, scope: RequestScope, params: Params): Promise<Wanted> {
  const { principal, auth } = requirePrincipal(scope)
  const delivery = deliveryParam(params)
  const type = typeParam(core, scope, params, 'webhook')
  const url = stringParam(delivery, 'url')
  const { allowedOrigins } = core.settings
  const allowLoopback = core.allowsLoopback(scope.context.env)
  const { host } = checkCallbackUrl(url, { allowedOrigins, allowLoopback })
  const secret = checkSecret(delivery.secret)
  const { sent, valid } = await argumentsParam(type, params)
  const expiresAt = expiryOf(core, params)
  return {
    id: await subscriptionIdOf(core.tag(), principal, url, type.id, sent),
    url,
    secret,
    cursor: cursorParam(params),
    maxAgeMs: millisecondsParam(params, 'maxAgeMs', 0),
    expiresAt,
    fresh: {
      type: type.id,
      url,
      host: (await shortDigest(host)).slice(0, 8),
      principal,
      owner: await shortDigest(principal),
      auth,
      args: valid,
      pattern: await patternOf(type.index, valid),
      secrets: [{ secret }],
      expiresAt,
      queue: [],
      isActive: true,
      failures: 0,
    },
  }
}

/** The server decides; never longer than the client wishes, unless that is less than the server's minimum. */
function expiryOf({ settings }: Core, params: Params): number | null {
  const { ttlMs, minTtlMs, maxTtlMs, allowNoExpiry } = settings
  if (params.ttlMs === null) return allowNoExpiry ? null : Date.now() + maxTtlMs
  const wished = millisecondsParam(params, 'ttlMs', 1) ?? ttlMs
  return Date.now() + Math.min(Math.max(wished, minTtlMs), maxTtlMs)
}

const isAllowed = ({ settings: { allowedOrigins } }: Core, url: string): boolean =>
  allowedOrigins.includes(new URL(url).origin)

/** @throws ProtocolError `-32013` for too many, and `-32015` */
async function verify(core: Core, { id, url, secret, fresh }: Wanted): Promise<void> {
  await countChallenge(core, fresh)
  const target = { url, subscriptionId: id, secrets: [secret], timeoutMs: VERIFY_TIMEOUT_MS }
  const verdict = await verifyEndpoint(core.sender, target)
  if (verdict.isVerified) return
  core.deliveryLog.notVerified(id, fresh, verdict.reason)
  throw callbackError(verdict.reason)
}

/** Ends a subscription that its caller may not have any more. */
async function end(core: Core, id: string): Promise<void> {
  const { data } = core
  await untilMade(async () => {
    const entry = await data.read<Subscription>(subscriptionKey(id))
    if (entry === undefined || isEnded(entry.value)) return true
    const changed = ended(entry.value)
    return data.commit([
      ...toWrites(id, entry, changed),
      ...unlistedWrites(id, changed),
      ...endedWrites(core, id, changed.type),
    ])
  })
}
