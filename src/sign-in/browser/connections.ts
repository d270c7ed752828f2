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
import { toUpstream } from './away.ts'
import type { ConnectionShown } from './consents.ts'
import { endSession, isOfSession, readSession, type Session } from './session.ts'

/** The most that are read for one person. */
const MAX_ENTRIES = 500
/** Each of two writes: within what one commit may have. */
const GRANTS_PER_COMMIT = 10

export async function showConnections(request: Request, signing: Signing): Promise<Response> {
  const session = await readSession(request, signing)
  if (session === undefined) return toUpstream(signing, {})
  const grants = await grantsOf(signing, session.sub)
  const byClient = new Map<string, PageConnection>()
  for (const { clientId, scope, createdAt, metadata } of grants) {
    const { client } = metadata as ConnectionShown
    const known = byClient.get(clientId)
    const scopes = [...new Set([...(known?.scopes.map(({ name }) => name) ?? []), ...scope])]
    byClient.set(clientId, {
      id: clientId,
      client,
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
  if (form.has('sign_out'))
    return errorPage(signing, 200, 'You are signed out', 'Your connections stay as they are.', undefined, [
      endSession(signing),
    ])
  const clientId = form.get('revoke') ?? ''
  await removeClient(signing, session, clientId)
  return seeOther(`${signing.place.connections}?removed`)
}

/** What was agreed to first: no new code is issued without a question then. */
async function removeClient(signing: Signing, { sub }: Session, clientId: string): Promise<void> {
  const consents = await entriesOf<{ readonly clientId: string }>(signing, `consent:${sub}:`)
  const agreed = consents.filter(([, consent]) => consent.clientId === clientId)
  const grants = (await grantsOf(signing, sub)).filter((grant) => grant.clientId === clientId)
  await inParts(signing, agreed, (unit, [key]) => unit.delete(key))
  await inParts(signing, grants, (unit, { id }) => endGrant(unit, sub, id))
}

async function inParts<Item>(
  signing: Signing,
  items: readonly Item[],
  remove: (unit: Parameters<Parameters<typeof asUnit>[1]>[0], item: Item) => void,
): Promise<void> {
  for (let start = 0; start < items.length; start += GRANTS_PER_COMMIT)
    await asUnit(signing, async (unit) => {
      for (const item of items.slice(start, start + GRANTS_PER_COMMIT)) remove(unit, item)
    })
}

async function grantsOf(signing: Signing, sub: string): Promise<GrantRecord[]> {
  const entries = await entriesOf<GrantRecord>(signing, grantKey(sub, ''))
  // One whose code was never exchanged is not a connection yet.
  return entries.map(([, grant]) => grant).filter(({ refreshTokenId }) => refreshTokenId !== undefined)
}

async function entriesOf<Record>({ store }: Signing, prefix: string): Promise<[string, Record][]> {
  const keys: string[] = []
  let after: string | undefined
  do {
    const page = await store.list({ prefix, limit: 100, ...(after !== undefined && { after }) })
    keys.push(...page.keys)
    after = page.next
  } while (after !== undefined && keys.length < MAX_ENTRIES)
  const entries = await Promise.all(keys.slice(0, MAX_ENTRIES).map((key) => store.read(key)))
  return entries.flatMap((entry, index) =>
    entry === undefined ? [] : [[keys[index]!, JSON.parse(entry.value) as Record]],
  )
}
