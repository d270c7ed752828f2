/** The page where people see which clients they have let in, and remove them. */

import type { PageConnection } from '../pages/model.ts'
import {
  asUnit,
  errorPage,
  isFromHere,
  pageResponse,
  type Signing,
  scopesShown,
  seeOther,
} from '../signing.ts'
import { endGrant, grantKey } from '../tokens/grants.ts'
import type { GrantRecord } from '../tokens/library.ts'
import type { Unit } from '../unit.ts'
import { toUpstream } from './away.ts'
import type { ConnectionShown } from './consents.ts'
import { endFlows } from './flow.ts'
import { endSession, isOfSession, readSession, type Session } from './session.ts'

/** The most that are shown to one person; all are removed. */
const MAX_SHOWN = 2000
/** Far more than anybody has: the end for a store that never comes to one. */
const MAX_PAGES = 1000
const PAGE_KEYS = 100
/** Each of two writes: within what one commit may have. */
const GRANTS_PER_COMMIT = 10

export async function showConnections(request: Request, signing: Signing): Promise<Response> {
  const session = await readSession(request, signing)
  if (session === undefined) return toUpstream(request, signing, {})
  const byClient = new Map<string, PageConnection>()
  const newest = new Map<string, number>()
  let count = 0
  for await (const [, grant] of entriesOf<GrantRecord>(signing, grantKey(session.sub, ''))) {
    if (++count > MAX_SHOWN) break
    const { clientId, scope, createdAt, metadata, refreshTokenId } = grant
    // One whose code was never exchanged is not a connection yet.
    if (refreshTokenId === undefined) continue
    const { client } = metadata as ConnectionShown
    const known = byClient.get(clientId)
    const isNewest = createdAt >= (newest.get(clientId) ?? 0)
    if (isNewest) newest.set(clientId, createdAt)
    const scopes = [...new Set([...(known?.scopes.map(({ name }) => name) ?? []), ...scope])]
    byClient.set(clientId, {
      id: clientId,
      // As the person agreed to it last.
      client: isNewest || known === undefined ? client : known.client,
      scopes: scopesShown(signing, scopes),
      since: Math.min(known?.since ?? Number.POSITIVE_INFINITY, createdAt * 1000),
    })
  }
  return pageResponse({
    page: 'connections',
    server: signing.name,
    person: { name: session.name, email: session.email },
    upstream: signing.upstream.name,
    connections: [...byClient.values()].sort((a, b) => b.since - a.since),
    canSignOut: true,
    isRemoved: new URL(request.url).searchParams.has('removed'),
    action: signing.place.connections,
    fields: { form: session.token },
  })
}

export async function removeConnection(
  request: Request,
  form: URLSearchParams,
  signing: Signing,
): Promise<Response> {
  const session = await readSession(request, signing)
  if (session === undefined || !isFromHere(request, signing.place) || !isOfSession(form, session))
    return errorPage(
      signing,
      403,
      'This form cannot be used any more',
      'Nothing was changed. Open the page of connections again.',
    )
  // Without the session, the page would lead to the provider, which may sign in again at once.
  if (form.has('sign_out')) {
    const stay = `Your connections stay as they are. On a shared computer, sign out of ${signing.upstream.name}, too.`
    const ended = await asUnit(signing, (unit) => endSession(request, signing, unit))
    return errorPage(signing, 200, 'You are signed out', stay, undefined, [
      ended,
      ...endFlows(request, signing.place),
    ])
  }
  const clientId = form.get('revoke') ?? ''
  await removeClient(signing, session, clientId)
  return seeOther(`${signing.place.connections}?removed`)
}

/** What was agreed to first: no new code is issued without a question then. Also codes that the client has not exchanged yet. */
async function removeClient(signing: Signing, { sub }: Session, clientId: string): Promise<void> {
  await removeAll(signing, `consent:${sub}:`, clientId, (unit, key) => unit.delete(key))
  const start = grantKey(sub, '')
  await removeAll(signing, start, clientId, (unit, key) => endGrant(unit, sub, key.slice(start.length)))
}

async function removeAll(
  signing: Signing,
  prefix: string,
  clientId: string,
  remove: (unit: Unit, key: string) => void,
): Promise<void> {
  const keys: string[] = []
  for await (const [key, entry] of entriesOf<{ readonly clientId: string }>(signing, prefix))
    if (entry.clientId === clientId) keys.push(key)
  for (let start = 0; start < keys.length; start += GRANTS_PER_COMMIT)
    await asUnit(signing, async (unit) => {
      for (const key of keys.slice(start, start + GRANTS_PER_COMMIT)) remove(unit, key)
    })
}

async function* entriesOf<Record>({ store }: Signing, prefix: string): AsyncGenerator<[string, Record]> {
  let after: string | undefined
  for (let pages = 0; ; pages++) {
    if (pages === MAX_PAGES)
      throw new RangeError('The store of grants lists more than 1000 pages for one person.')
    const { keys, next } = await store.list({
      prefix,
      limit: PAGE_KEYS,
      ...(after !== undefined && { after }),
    })
    const entries = await Promise.all(keys.map((key) => store.read(key)))
    for (const [index, entry] of entries.entries())
      if (entry !== undefined) yield [keys[index]!, JSON.parse(entry.value) as Record]
    if (next === undefined) return
    after = next
  }
}
