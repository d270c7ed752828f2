/** A message as the servers behind this one need it. */
import type { Env } from '../definition/context.ts'
import type { GatewayMessage } from '../request/gateway-support.ts'
import type { Params } from '../request/params.ts'
import { givenRequest } from '../request/platform.ts'
import type { Incoming } from './engine-options.ts'

export function toGatewayMessage(
  { method, params }: { readonly method: string; readonly params: Params },
  { auth, platform, request, waitUntil }: Incoming,
): GatewayMessage {
  const caller = { auth, env: (platform.env ?? {}) as Env, request: givenRequest(request, platform) }
  return { method, params, caller, waitUntil, deadline: platform.deadline }
}
