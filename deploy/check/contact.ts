/** The first requests to a server: which eras it supports, whether it requires a token, and how long a cold call takes. */
import { isA } from '../../src/definition/error-text.ts'
import { isObject } from '../../src/definition/is-object.ts'
import { CliError } from '../terminal/cli-error.ts'
import {
  initializeMessage,
  type JsonObject,
  LEGACY_VERSIONS,
  legacyMessage,
  modernMessage,
  SERVER_INFO,
  type Session,
} from './messages.ts'
import { Stop } from './outcome.ts'
import type { Reply } from './reply.ts'
import { toSafeText } from './safe-text.ts'
import { createHide, secretsIn } from './secrets.ts'
import type { Wire } from './wire.ts'

/** An answer, or why there is none. */
export type Word = Reply & { readonly id: string | number }

export interface Contact {
  /** `server/discover` of 2026-07-28, and `initialize` of 2025-11-25. */
  readonly discover: Word | Stop
  readonly initialize: Word | Stop
  readonly isModern: boolean
  readonly isLegacy: boolean
  /** Both requests got 401: without a token the server's eras are unknown. */
  readonly isLocked: boolean
  /** The target and status of a redirect of either request. */
  readonly redirect?: { readonly status: number; readonly location: string }
  readonly discovery: JsonObject
  readonly initialization: JsonObject
  /** The values that later legacy requests must send. */
  readonly session: Session | undefined
  readonly coldFirstByteMs: number | undefined
}

/** Nothing answers at the URL: exit code 2. */
export class NothingAnswers extends CliError {
  override name = 'NothingAnswers'
  override readonly exitCode = 2
}

/** Throws `NothingAnswers` if neither era's first request gets an HTTP answer. */
export async function makeContact(wire: Wire): Promise<Contact> {
  const discover = await say(
    wire,
    'server/discover (modern)',
    modernMessage({ method: 'server/discover' }, wire.freshId()),
  )
  const initialize = await say(
    wire,
    'initialize (2025-11-25)',
    initializeMessage(LEGACY_VERSIONS[0], wire.freshId()),
  )
  if (discover instanceof Stop && initialize instanceof Stop)
    throw new NothingAnswers(nothing(wire, discover))

  const discovery = (discover instanceof Stop ? undefined : discover.result) ?? {}
  const initialization = (initialize instanceof Stop ? undefined : initialize.result) ?? {}
  const isLegacy = typeof initialization.protocolVersion === 'string'
  const isModern = isModernReply(discover) || (await listsModern(wire, discover))
  const replies = [discover, initialize].filter((word): word is Word => !(word instanceof Stop))
  const redirected = replies.find(({ answer }) => answer.status >= 300 && answer.status < 400)
  const location = redirected?.answer.headers.get('location')
  const session = isLegacy
    ? await openSession(wire, initialize, String(initialization.protocolVersion))
    : undefined
  return {
    discover,
    initialize,
    isModern,
    isLegacy,
    isLocked: !isModern && !isLegacy && replies.some(({ answer }) => answer.status === 401),
    ...(redirected && location && { redirect: { status: redirected.answer.status, location } }),
    discovery,
    initialization,
    session,
    coldFirstByteMs: discover instanceof Stop ? undefined : discover.answer.firstByteMs,
  }
}

/** Sends one request. Returns the message for `NothingAnswers` if it gets no HTTP answer. */
export async function whyNothingAnswers(wire: Wire): Promise<string | undefined> {
  const asking = modernMessage({ method: 'server/discover' }, wire.freshId())
  const word = await say(wire, 'server/discover (modern)', asking)
  return word instanceof Stop ? nothing(wire, word) : undefined
}

/** The name that the server gives itself, in either era. */
export function serverInfo({
  discovery,
  initialization,
}: Contact): { name: string; version: string } | undefined {
  const meta = isObject(discovery._meta) ? discovery._meta : {}
  const info = meta[SERVER_INFO] ?? initialization.serverInfo
  if (!isObject(info) || typeof info.name !== 'string') return undefined
  return { name: info.name, version: typeof info.version === 'string' ? info.version : '' }
}

/** Whether it is an answer that no legacy server sends: a result with members of 2026-07-28, or one of its error codes. */
function isModernReply(word: Word | Stop): boolean {
  if (word instanceof Stop) return false
  const { result, error } = word
  return result !== undefined
    ? Array.isArray(result.supportedVersions) || typeof result.resultType === 'string'
    : error?.code === -32020 || error?.code === -32021
}

/** Recognizes a modern server that lacks the required `server/discover` by any other result. */
async function listsModern(wire: Wire, discover: Word | Stop): Promise<boolean> {
  if (discover instanceof Stop || discover.error?.code !== -32601) return false
  const listed = await say(
    wire,
    'tools/list (modern)',
    modernMessage({ method: 'tools/list' }, wire.freshId()),
  )
  return isModernReply(listed)
}

async function openSession(wire: Wire, initialize: Word | Stop, version: string): Promise<Session> {
  const id = initialize instanceof Stop ? null : initialize.answer.headers.get('mcp-session-id')
  const session: Session = { version, ...(id !== null && { id }) }
  const { headers } = legacyMessage({ method: 'notifications/initialized' }, '', session)
  const body = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })
  // Another probe checks the answer itself.
  await wire
    .send({ label: 'notifications/initialized', headers, body, statuses: 'any', isEnough: () => true })
    .catch(ignoreStop)
  return session
}

async function say(
  wire: Wire,
  label: string,
  { headers, body, id }: ReturnType<typeof modernMessage>,
): Promise<Word | Stop> {
  try {
    return { ...(await wire.ask({ label, headers, body, id, statuses: 'any' })), id }
  } catch (error) {
    if (isA(error, Stop)) return error
    throw error
  }
}

function ignoreStop(error: unknown): void {
  if (!isA(error, Stop)) throw error
}

function nothing({ options }: Wire, { outcome }: Stop): string {
  const { url } = options
  const reason = outcome.detail.replace(/^.*?: /, '')
  return toSafeText(
    `nothing answers at ${url.origin}${url.pathname}: ${reason}`,
    createHide(secretsIn(options)),
  )
}
