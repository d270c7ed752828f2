/** The object of subscriptions after an upgrade, in workerd: on the tables of the version before callers were counted. */
import { fileURLToPath } from 'node:url'
import type { Miniflare } from 'miniflare'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { DurableObjectNamespace } from '../../../adapters/_cloudflare/durable-object.ts'
import { startWorkerd } from './_workerd.ts'

const ADAPTER = fileURLToPath(new URL('../../../adapters/cloudflare.ts', import.meta.url))

/** Made once, before the class of today starts twice. */
const WORKER = `
import { MayflySubscriptions } from ${JSON.stringify(ADAPTER)}
const BEFORE = \`
CREATE TABLE sessions (session TEXT PRIMARY KEY, expiresAt INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX byExpiry ON sessions (expiresAt);
CREATE TABLE subscriptions (session TEXT, uri TEXT, PRIMARY KEY (session, uri)) WITHOUT ROWID;
INSERT INTO sessions VALUES ('old', 9000000000000), ('idle', 8000000000000);
INSERT INTO subscriptions VALUES ('old', 'a://1'), ('old', 'a://2'), ('idle', 'a://3');\`
export class Upgraded extends MayflySubscriptions {
  #sql
  constructor(state) {
    const { sql } = state.storage
    sql.exec(BEFORE)
    new MayflySubscriptions(state)
    super(state)
    this.#sql = sql
  }
  async fetch(request) {
    if (!request.url.endsWith('/held')) return super.fetch(request)
    return Response.json(this.#sql.exec('SELECT * FROM held ORDER BY caller').toArray())
  }
}
export default { fetch: () => new Response() }`

let workerd: Miniflare
let namespace: DurableObjectNamespace

beforeAll(async () => {
  workerd = await startWorkerd({ stdin: { contents: WORKER, resolveDir: import.meta.dirname } }, ['Upgraded'])
  namespace = (await workerd.getDurableObjectNamespace('Upgraded')) as unknown as DurableObjectNamespace
})
afterAll(() => workerd?.dispose())

/** As `durableObjectSubscriptions` asks the object. */
async function ask(name: string, what: string, session = '', more: object = {}): Promise<unknown> {
  const object = namespace.get(namespace.idFromName(name) as never)
  const asked = { what, session, ttlMs: 60_000, maxCharacters: 10_000, ...more }
  const body = JSON.stringify(asked)
  const response = await object.fetch(`https://subscriptions/${what}`, { method: 'POST', body })
  expect(response.ok).toBe(true)
  return response.status === 200 ? response.json() : undefined
}

it('sessions of the version before are listed, changed and counted', async () => {
  expect(await ask('news', 'list', 'old')).toEqual(['a://1', 'a://2'])
  expect(await ask('news', 'held')).toEqual([
    { caller: ':', characters: 315 },
    { caller: 'all', characters: 315 },
  ])
  await ask('news', 'remove', 'old', { uri: 'a://1' })
  await ask('news', 'add', 'old', { uri: 'a://4', holder: { caller: 'someone', share: 0.9 } })
  expect(await ask('news', 'list', 'old')).toEqual(['a://2', 'a://4'])
  expect(await ask('news', 'held')).toEqual([
    { caller: ':', characters: 105 },
    { caller: ':someone', characters: 210 },
    { caller: 'all', characters: 315 },
  ])
  for (const session of ['old', 'idle']) await ask('news', 'clear', session)
  expect(await ask('news', 'held')).toEqual([{ caller: 'all', characters: 0 }])
})

it('sessions of the version before make room for others, the longest unused first', async () => {
  const holder = { caller: 'someone', share: 1 }
  await ask('full', 'add', 'new', { uri: 'a://5', holder, maxCharacters: 350 })
  expect(await ask('full', 'list', 'idle')).toEqual([])
  expect(await ask('full', 'list', 'old')).toEqual(['a://1', 'a://2'])
  expect(await ask('full', 'list', 'new')).toEqual(['a://5'])
})
