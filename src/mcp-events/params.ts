/** Reads what a client sends about a subscription. */
import { isObject } from '../definition/is-object.ts'
import { invalidParams } from '../definition/protocol-error.ts'
import { describeIssues } from '../definition/schema.ts'
import { objectParam, optionalObjectParam, type Params, stringParam } from '../request/params.ts'
import { principalOf } from '../request/principal.ts'
import type { RequestScope } from '../request/request-server.ts'
import type { Core } from './core.ts'
import { type Position, readCursor } from './cursor.ts'
import { forbidden, notFound, unsupported } from './errors.ts'
import type { DeliveryMode, EventType } from './event.ts'
import type { SubscriberAuth } from './record.ts'

/** Characters of the arguments as JSON: a subscription is one entry of the store. */
const MAX_ARGUMENTS = 8192

/** The event that the client names, if this caller may know of it. @throws ProtocolError */
export function typeParam(core: Core, scope: RequestScope, params: Params, mode: DeliveryMode): EventType {
  const name = stringParam(params, 'name')
  const type = core.settings.types.get(name)
  if (type === undefined) {
    scope.requireKnown('method', name)
    throw notFound('event', `There is no event "${name.slice(0, 128)}": list them with events/list.`)
  }
  requireScopes(scope, type)
  const { modes } = type
  if (modes !== undefined && !modes.includes(mode))
    throw unsupported('deliveryMode', mode, `Event "${name}" is not delivered by ${mode}.`)
  return type
}

/** @throws ProtocolError `-32012`, with the challenge for a token that has the scopes. */
function requireScopes(scope: RequestScope, { id, scopes }: EventType): void {
  scope.requireAccess({ kind: 'method', name: id, scopes })
}

export interface GivenArguments {
  /** As sent: they identify the subscription. */
  readonly sent: object
  /** As the schema returned them. */
  readonly valid: unknown
}

/** @throws ProtocolError `-32602` */
export async function argumentsParam(type: EventType, params: Params): Promise<GivenArguments> {
  const sent = sentArguments(params)
  if (type.input === undefined) {
    const [name] = Object.keys(sent)
    if (name === undefined) return { sent, valid: {} }
    throw invalidParams(`Invalid params: event "${type.id}" has no argument "${name.slice(0, 128)}".`)
  }
  const validation = await type.input.validate(sent)
  if (!validation.ok)
    throw invalidParams(
      `Invalid params: the arguments of event "${type.id}": ${describeIssues(validation.issues)}`,
    )
  // Defaults may make them larger.
  requireSize(validation.value)
  return { sent, valid: validation.value }
}

/** @throws ProtocolError `-32602` */
export function sentArguments(params: Params): object {
  const sent = optionalObjectParam(params, 'arguments')
  requireSize(sent)
  return sent
}

function requireSize(args: unknown): void {
  if ((JSON.stringify(args) ?? '').length > MAX_ARGUMENTS)
    throw invalidParams(
      `Invalid params: "arguments" must have at most ${MAX_ARGUMENTS} characters as JSON, also with their defaults.`,
    )
}

/** Null: from now on. @throws ProtocolError `-32602` */
export function cursorParam(params: Params): Position | null {
  const { cursor } = params
  if (cursor === undefined || cursor === null) return null
  const position = typeof cursor === 'string' ? readCursor(cursor) : undefined
  if (position === undefined)
    throw invalidParams('Invalid params: "cursor" must be null, or come from this server.')
  return position
}

/** @throws ProtocolError `-32602` */
export function millisecondsParam(params: Params, name: string, least: number): number | undefined {
  const value = params[name]
  if (value === undefined) return undefined
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= least) return value
  throw invalidParams(`Invalid params: "${name}" must be a whole number of milliseconds, ${least} or more.`)
}

/** @throws ProtocolError `-32602`, or `-32014` for another mode than `webhook`. */
export function deliveryParam(params: Params): Params {
  const delivery = objectParam(params, 'delivery')
  const { mode = 'webhook' } = delivery
  if (mode !== 'webhook')
    throw unsupported(
      'deliveryMode',
      typeof mode === 'string' ? mode.slice(0, 128) : null,
      'Only "webhook" needs a subscription: poll with events/poll, or open events/stream.',
    )
  return delivery
}

/** @throws ProtocolError `-32012` for a caller without a name: its subscriptions could be anyone's. */
export function requirePrincipal({ context }: RequestScope): {
  readonly principal: string
  readonly auth: SubscriberAuth
} {
  const { auth } = context
  if (auth === undefined) throw forbidden('Webhooks need an authenticated caller.')
  const { clientId, scopes, subject, realm, extra } = auth
  const known = isObject(extra) && typeof extra.sub === 'string' ? extra.sub : subject
  return {
    principal: principalOf(context),
    auth: {
      clientId,
      scopes,
      ...(known !== undefined && { subject: known }),
      ...(realm !== undefined && { realm }),
    },
  }
}
