/** What every transactional store promises, of grants and of events, over its real engine. An instance stands for a process: it has connections of its own. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { KeyedStore, KeyedWrite } from '../../../src/keyed/store.ts'
import { eventually } from '../../_eventually.ts'
import type { Outage } from '../tasks/stores/_tasks.ts'
import { clockScenarios } from './_clocks.ts'

export interface Instance {
  readonly store: KeyedStore
  close(): unknown
}

export interface ConnectOptions {
  /** Letters, digits and `_`. What has another prefix is not seen. */
  readonly prefix: string
  readonly timeoutMs?: number
}

export interface Backend {
  /** Connects as another process would. */
  connect(options: ConnectOptions): Promise<Instance>
  /** The ways in which it can be down. */
  readonly outages?: { readonly [name: string]: Outage }
  /** Commits arrive, and their answers are lost. */
  readonly mute?: Outage
  stop(): unknown
}

/** Of each race. Contenders that lose pause before they try again: in DynamoDB, a round takes about a second. */
const ROUNDS = 4

export const newVersion = (): string => crypto.randomUUID()

export function unique(): string {
  return `g${crypto.randomUUID().replaceAll('-', '')}`
}

export async function listAll(store: KeyedStore, prefix: string, limit = 1000): Promise<string[]> {
  const keys: string[] = []
  let after: string | undefined
  for (let pages = 0; pages < 1000; pages++) {
    const page = await store.list({ prefix, limit, ...(after !== undefined && { after }) })
    keys.push(...page.keys)
    after = page.next
    if (after === undefined) return keys
  }
  throw new Error('The list does not end.')
}

export function keyedStoreSuite(name: string, startBackend: () => Promise<Backend>): void {
  describe(name, { timeout: 180_000 }, () => {
    let backend: Backend
    const open: Instance[] = []
    beforeAll(async () => {
      backend = await startBackend()
    }, 300_000)
    afterAll(() => backend?.stop())
    afterEach(async () => {
      for (const instance of open.splice(0)) await instance.close()
    })
    const connect = async (options: Partial<ConnectOptions> = {}): Promise<KeyedStore> => {
      const instance = await backend.connect({ prefix: unique(), ...options })
      open.push(instance)
      return instance.store
    }
    const connectTwo = async (): Promise<[KeyedStore, KeyedStore]> => {
      const prefix = unique()
      return [await connect({ prefix }), await connect({ prefix })]
    }
    /** Commits, and returns the version. */
    const made = async (store: KeyedStore, ...writes: KeyedWrite[]): Promise<string> => {
      const version = newVersion()
      expect(await store.commit(version, writes)).toBe(true)
      return version
    }

    clockScenarios(connectTwo)

    it('what one process commits, another reads as it was, until it is replaced or deleted', async () => {
      const [here, there] = await connectTwo()
      const expiresAt = Date.now() + 3_600_000
      expect(await here.read('grant:1')).toBeUndefined()
      const version = await made(
        here,
        { key: 'grant:1', value: 'one' },
        { key: 'grant:2', value: '', expiresAt },
      )
      for (const store of [here, there]) {
        expect(await store.read('grant:1')).toEqual({ value: 'one', version })
        expect(await store.read('grant:2')).toEqual({ value: '', version, expiresAt })
      }
      const next = await made(there, { key: 'grant:1', value: 'two', expiresAt }, { key: 'grant:2' })
      expect(await here.read('grant:1')).toEqual({ value: 'two', version: next, expiresAt })
      expect(await here.read('grant:2')).toBeUndefined()
      expect(await listAll(here, '')).toEqual(['grant:1'])
      const last = await made(here, { key: 'grant:1', value: 'three' })
      expect(await there.read('grant:1')).toEqual({ value: 'three', version: last })
    })

    it('a commit without writes, and a deletion of what is not there, are made', async () => {
      const store = await connect()
      await made(store)
      await made(store, { key: 'a' }, { key: 'b', ifVersion: null })
      expect(await listAll(store, '')).toEqual([])
    })

    describe('conditions', () => {
      it.each(['set', 'delete', 'check'] as const)('%s: null, a version, another one, any', async (what) => {
        const store = await connect()
        const version = await made(store, { key: 'old', value: 'old' })
        const attempt = async (key: string, ifVersion?: string | null): Promise<boolean> =>
          store.commit(newVersion(), [
            {
              key,
              ifVersion,
              ...(what === 'set' && { value: 'new' }),
              ...(what === 'check' && { isCheck: true, value: 'ignored' }),
            },
            { key: `made by ${String(ifVersion)} of ${key}`, value: '' },
          ])
        expect(await attempt('old', null)).toBe(false)
        expect(await attempt('old', newVersion())).toBe(false)
        expect(await attempt('none', version)).toBe(false)
        expect(await listAll(store, '')).toEqual(['old'])
        expect(await store.read('old')).toEqual({ value: 'old', version })
        expect(await attempt('none', null)).toBe(true)
        expect(await store.read('none')).toEqual(
          what === 'set' ? { value: 'new', version: expect.any(String) } : undefined,
        )
        expect(await attempt('old', version)).toBe(true)
        const after = await store.read('old')
        expect(after).toEqual(
          {
            set: { value: 'new', version: expect.any(String) },
            delete: undefined,
            check: { value: 'old', version },
          }[what],
        )
        if (what === 'set') expect(after!.version).not.toBe(version)
        expect(await attempt('old')).toBe(true)
        expect(await attempt('none either')).toBe(true)
      })

      it.each(['first', 'last'])(
        '25 writes, of which the %s is refused: none is made; then all are',
        async (which) => {
          const [here, there] = await connectTwo()
          const keys = Array.from({ length: 25 }, (_, index) => `key:${String(index).padStart(2, '0')}`)
          const taken = which === 'first' ? keys[0]! : keys[24]!
          const gone = keys[12]!
          const before = await made(
            here,
            { key: taken, value: 'taken' },
            { key: gone, value: 'to be deleted' },
          )
          const writes = keys.map((key) =>
            key === gone ? { key, ifVersion: before } : { key, value: `value of ${key}`, ifVersion: null },
          )
          expect(await there.commit(newVersion(), writes)).toBe(false)
          expect(await listAll(here, '')).toEqual([taken, gone].sort())
          expect(await here.read(gone)).toEqual({ value: 'to be deleted', version: before })
          await made(here, { key: taken })
          expect(await there.commit(newVersion(), writes)).toBe(true)
          expect(await listAll(here, '')).toEqual(keys.filter((key) => key !== gone))
        },
      )
    })

    describe('races of two processes', () => {
      /** Commits all at once, half of them in each process, and returns the versions of those that were made. */
      const race = async (
        stores: readonly KeyedStore[],
        racers: readonly (readonly KeyedWrite[])[],
      ): Promise<string[]> => {
        const versions = racers.map(newVersion)
        const results = await Promise.all(
          racers.map((writes, index) => stores[index % 2]!.commit(versions[index]!, writes)),
        )
        return versions.filter((_, index) => results[index])
      }

      it('8 that create one entry, and 8 that replace it: one of them each time', async () => {
        const stores = await connectTwo()
        for (let round = 0; round < ROUNDS; round++) {
          const key = `code:${round}`
          const created = await race(
            stores,
            Array.from({ length: 8 }, (_, index) => [{ key, value: `${index}`, ifVersion: null }]),
          )
          expect(created).toHaveLength(1)
          expect((await stores[1].read(key))!.version).toBe(created[0])
          const replaced = await race(
            stores,
            Array.from({ length: 8 }, (_, index) => [
              { key, ...(index % 2 && { value: `next ${index}` }), ifVersion: created[0]! },
              { key: `token:${round}:${index}`, value: '' },
            ]),
          )
          expect(replaced).toHaveLength(1)
          expect(await listAll(stores[0], `token:${round}:`)).toHaveLength(1)
        }
      })

      it('8 that write the same keys in different orders: no deadlock, and all of one at each time', async () => {
        const stores = await connectTwo()
        const keys = Array.from({ length: 12 }, (_, index) => `k${index}`)
        for (let round = 0; round < ROUNDS; round++) {
          const racers = Array.from({ length: 8 }, (_, index) =>
            [...keys.slice(index), ...keys.slice(0, index)].map((key) => ({ key, value: `${index}` })),
          )
          expect(await race(stores, racers)).toHaveLength(8)
          const entries = await Promise.all(keys.map((key) => stores[0].read(key)))
          expect(new Set(entries.map((entry) => entry!.value)).size).toBe(1)
        }
      })

      it('two that each check what the other writes: never both', async () => {
        const stores = await connectTwo()
        for (let round = 0; round < ROUNDS; round++) {
          const [a, b] = [`a${round}`, `b${round}`]
          const done = await race(stores, [
            [
              { key: a, isCheck: true, ifVersion: null },
              { key: b, value: 'written' },
            ],
            [
              { key: b, isCheck: true, ifVersion: null },
              { key: a, value: 'written' },
            ],
          ])
          expect(done).toHaveLength(1)
        }
      })
    })

    describe('a commit that is repeated, since its answer was lost', () => {
      it('is made once: true, also after others have changed or deleted what it wrote', async () => {
        const [here, there] = await connectTwo()
        const old = await made(here, { key: 'code', value: 'unused' })
        const version = newVersion()
        const writes = [
          { key: 'code', ifVersion: old },
          { key: 'token', value: 'mine', ifVersion: null },
          { key: 'grant', value: 'mine' },
        ]
        expect(await here.commit(version, writes)).toBe(true)
        for (const store of [here, there]) expect(await store.commit(version, writes)).toBe(true)
        const other = await made(there, { key: 'grant', value: 'of another' }, { key: 'token' })
        expect(await here.commit(version, writes)).toBe(true)
        expect(await here.read('grant')).toEqual({ value: 'of another', version: other })
        expect(await listAll(here, '')).toEqual(['grant'])
      })

      it.each([
        ['only deleted', (ifVersion: string) => ({ key: 'code', ifVersion })],
        ['only compared', (ifVersion: string) => ({ key: 'code', ifVersion, isCheck: true })],
      ])('is known if it %s', async (_what, toWrite) => {
        const [here, there] = await connectTwo()
        const write = toWrite(await made(here, { key: 'code', value: '' }))
        const version = newVersion()
        expect(await here.commit(version, [write])).toBe(true)
        await made(here, { key: 'code', value: 'a new one' })
        expect(await there.commit(version, [write])).toBe(true)
        expect(await there.commit(newVersion(), [write])).toBe(false)
        expect((await here.read('code'))!.value).toBe('a new one')
      })

      it('another commit of the same keys, and another one with its version, are not taken for it', async () => {
        const store = await connect()
        const version = newVersion()
        const writes = [{ key: 'a', value: 'b', ifVersion: null }]
        expect(await store.commit(version, writes)).toBe(true)
        expect(await store.commit(newVersion(), writes)).toBe(false)
        for (const other of [
          [{ key: 'a', value: 'c', ifVersion: null }],
          [{ key: 'a', value: 'b' }],
          [{ key: 'a', value: 'b', ifVersion: version }],
          [...writes, { key: 'c', value: '' }],
          [],
        ])
          expect(await store.commit(version, other), JSON.stringify(other)).toBe(false)
        expect(await store.read('a')).toEqual({ value: 'b', version })
        expect(await store.commit(version, writes)).toBe(true)
      })

      it('that was refused is refused, or made if it can be by then', async () => {
        const store = await connect()
        const taken = await made(store, { key: 'a', value: '' })
        const version = newVersion()
        const writes = [{ key: 'a', value: 'mine', ifVersion: null }]
        expect(await store.commit(version, writes)).toBe(false)
        expect(await store.commit(version, writes)).toBe(false)
        await made(store, { key: 'a', ifVersion: taken })
        expect(await store.commit(version, writes)).toBe(true)
      })

      it('8 times at once is made once, and true each time', async () => {
        const stores = await connectTwo()
        const old = await made(stores[0], { key: 'code', value: '' })
        const version = newVersion()
        const writes = [
          { key: 'code', ifVersion: old },
          { key: 'token', value: '', ifVersion: null },
        ]
        const answers = Array.from({ length: 8 }, (_, index) => stores[index % 2]!.commit(version, writes))
        expect(await Promise.all(answers)).toEqual(Array(8).fill(true))
      })

      it('the server made it, and its answer did not arrive: rejected in time, and true when repeated', async (context) => {
        if (backend.mute === undefined) return context.skip()
        const prefix = unique()
        const store = await connect({ prefix, timeoutMs: 1000 })
        const old = await made(store, { key: 'code', value: '' })
        const version = newVersion()
        const writes = [
          { key: 'code', ifVersion: old },
          { key: 'token', value: 'mine' },
        ]
        await backend.mute.begin()
        const startedAt = performance.now()
        await expect(store.commit(version, writes)).rejects.toThrow(/^[^\n]+$/)
        expect(performance.now() - startedAt).toBeLessThan(10_000)
        await backend.mute.end()
        const other = await connect({ prefix })
        await eventually(async () => expect((await other.read('token'))?.version).toBe(version))
        expect(await eventually(() => store.commit(version, writes))).toBe(true)
        expect(await other.commit(newVersion(), writes)).toBe(false)
        expect(await listAll(other, '')).toEqual(['token'])
      })
    })

    describe('expiry', () => {
      it('an expired entry is none: not read, not listed, not demanded; and its key is free', async () => {
        const [here, there] = await connectTwo()
        const expiresAt = Date.now() + 1500
        const version = await made(
          here,
          { key: 'a', value: 'short', expiresAt },
          { key: 'b', value: 'short', expiresAt },
          { key: 'c', value: 'long', expiresAt: expiresAt + 3_600_000 },
          { key: 'd', value: 'for ever' },
        )
        expect(await there.read('a')).toEqual({ value: 'short', version, expiresAt })
        expect(await listAll(there, '')).toEqual(['a', 'b', 'c', 'd'])
        expect(await here.commit(newVersion(), [{ key: 'a', value: '', ifVersion: null }])).toBe(false)
        await eventually(() => expect(Date.now()).toBeGreaterThan(expiresAt + 20))
        expect(await there.read('a')).toBeUndefined()
        expect(await listAll(there, '')).toEqual(['c', 'd'])
        expect(await there.commit(newVersion(), [{ key: 'a', value: '', ifVersion: version }])).toBe(false)
        expect(await there.commit(newVersion(), [{ key: 'b', isCheck: true, ifVersion: version }])).toBe(
          false,
        )
        await made(there, { key: 'b', isCheck: true, ifVersion: null })
        const next = await made(there, { key: 'a', value: 'again', ifVersion: null })
        expect(await here.read('a')).toEqual({ value: 'again', version: next })
        expect(await listAll(here, '')).toEqual(['a', 'c', 'd'])
      })

      it('an entry that is written again has the new expiry, or none', async () => {
        const store = await connect()
        const expiresAt = Date.now() + 1000
        await made(store, ...['a', 'b', 'c'].map((key) => ({ key, value: '', expiresAt })))
        const later = expiresAt + 3_600_000
        const version = await made(
          store,
          { key: 'a', value: 'kept' },
          { key: 'b', value: 'longer', expiresAt: later },
          { key: 'c', value: 'over', expiresAt: Date.now() - 1 },
        )
        expect(await store.read('c')).toBeUndefined()
        await eventually(() => expect(Date.now()).toBeGreaterThan(expiresAt + 20))
        expect(await store.read('a')).toEqual({ value: 'kept', version })
        expect(await store.read('b')).toEqual({ value: 'longer', version, expiresAt: later })
        expect(await listAll(store, '')).toEqual(['a', 'b'])
      })
    })

    describe('text', () => {
      const VALUES = {
        'every plane': 'aé漢🦋\u{10FFFF}\uFFFF\uE000',
        quotes: `O'Reilly "x" \\ $1 $$ %s :a ?`,
        lines: '\r\n\t\u2028\u2029',
        'control characters': '\0 \u0001 \u00010 \u0001. \u001F \u007F \0\0',
        '64 KiB': 'x'.repeat(65_536),
        '64 KiB of three bytes each': `${'漢'.repeat(21_845)}x`,
        'digits alone': '0123',
        JSON: '{"a":[null,1.0]}',
      }
      it('values are what they were', async () => {
        const [here, there] = await connectTwo()
        const version = await made(here, ...Object.entries(VALUES).map(([key, value]) => ({ key, value })))
        for (const [key, value] of Object.entries(VALUES))
          expect((await there.read(key))?.value === value, key).toBe(true)
        expect((await there.read('quotes'))!.version).toBe(version)
      })

      it('25 values of 64 KiB are one commit', async () => {
        const store = await connect()
        const writes = Array.from({ length: 25 }, (_, index) => ({
          key: `${index}`,
          value: String(index % 10).repeat(65_536),
        }))
        await made(store, ...writes)
        expect((await store.read('24'))!.value === writes[24]!.value).toBe(true)
        expect(await listAll(store, '', 3)).toHaveLength(25)
      })

      const KEYS = [
        '%',
        '_',
        '*',
        '?',
        ':',
        '[a]',
        '\\',
        `'"`,
        ' ',
        'ä',
        '漢'.repeat(300),
        '🦋',
        'constructor',
        '0',
        'x'.repeat(512),
      ]
      it('keys are apart, whatever their characters mean elsewhere', async () => {
        const store = await connect()
        await made(store, ...KEYS.map((key) => ({ key, value: `value of ${key}` })))
        for (const key of KEYS) expect((await store.read(key))?.value, key).toBe(`value of ${key}`)
        for (const key of ['A', '%%', ' :', 'X'.repeat(512)]) expect(await store.read(key)).toBeUndefined()
        expect(new Set(await listAll(store, ''))).toEqual(new Set(KEYS))
      })

      const NO_KEYS = [
        '',
        'a\0b',
        '\0',
        'a\nb',
        '\u0001',
        'x'.repeat(513),
        '\uD800',
        '漢'.repeat(400),
        '\u{10FFFF}',
      ]
      it('what cannot be a key is refused, and is no key of anything', async () => {
        const store = await connect()
        for (const key of NO_KEYS) {
          const commit = store.commit(newVersion(), [
            { key: 'a', value: '' },
            { key, value: '' },
          ])
          await expect(commit, JSON.stringify(key)).rejects.toThrow(TypeError)
          expect(await store.read(key)).toBeUndefined()
          await made(store, { key, isCheck: true, ifVersion: null })
          const check = store.commit(newVersion(), [{ key, isCheck: true, ifVersion: 'v' }])
          await expect(check).rejects.toThrow(TypeError)
        }
        expect(await listAll(store, '\0')).toEqual([])
        expect(await listAll(store, '')).toEqual([])
      })

      it('too much is refused, and nothing of it is made', async () => {
        const store = await connect()
        const one = { key: 'a', value: '' }
        for (const [version, writes] of [
          ['v', [one, { key: 'b', value: 'x'.repeat(65_537) }]],
          ['v', [one, { key: 'b', value: '漢'.repeat(21_846) }]],
          ['v', [one, { key: 'b', value: '\uDC00' }]],
          ['v', [one, one]],
          ['v', Array.from({ length: 26 }, (_, index) => ({ key: `${index}`, value: '' }))],
          ['v', [{ ...one, expiresAt: Number.NaN }]],
          ['v', [{ ...one, expiresAt: Number.POSITIVE_INFINITY }]],
          ['v', [{ ...one, ifVersion: '' }]],
          ['', [one]],
          ['v\0', [one]],
          ['v'.repeat(129), [one]],
        ] as [string, KeyedWrite[]][])
          await expect(store.commit(version, writes)).rejects.toThrow(TypeError)
        expect(await listAll(store, '')).toEqual([])
      })
    })

    describe('the list', () => {
      it('has the keys with a prefix in the order of their characters, in pages of any size', async () => {
        const [here, there] = await connectTwo()
        const keys = Array.from({ length: 60 }, (_, index) => `grant:${(index * 37) % 60}:${index}`)
        for (let at = 0; at < keys.length; at += 20)
          await made(here, ...keys.slice(at, at + 20).map((key) => ({ key, value: 'v' })))
        await made(here, { key: 'grant', value: '' }, { key: 'grant;', value: '' }, { key: 'g', value: '' })
        const sorted = keys.toSorted()
        for (const limit of [1, 7, 60, 1000]) expect(await listAll(there, 'grant:', limit)).toEqual(sorted)
        const first = await there.list({ prefix: 'grant:', limit: 7 })
        expect(first.keys.length).toBeLessThanOrEqual(7)
        expect(await listAll(there, 'grant:5')).toEqual(sorted.filter((key) => key.startsWith('grant:5')))
        expect(await listAll(there, sorted[3]!)).toEqual([sorted[3]])
        expect(await listAll(there, 'grant:x')).toEqual([])
        expect(await there.list({ prefix: 'grant:', limit: 9, after: 'z' })).toEqual({ keys: [] })
        expect((await there.list({ prefix: 'grant:', limit: 9, after: 'a' })).keys[0]).toBe(sorted[0])
      })

      it('takes no character of a prefix for a wildcard, and orders by code point', async () => {
        const store = await connect()
        const keys = ['a%b', 'a_b', 'a*b', 'a?b', 'a[b', 'a\\b', 'axb', 'aXb', 'a\uE000', 'a\u{1F98B}', 'aä']
        await made(store, ...keys.map((key) => ({ key, value: '' })))
        for (const prefix of ['a%', 'a_', 'a*', 'a?', 'a[', 'a\\'])
          expect(await listAll(store, prefix, 1)).toEqual([`${prefix}b`])
        const sorted = [
          'a%b',
          'a*b',
          'a?b',
          'aXb',
          'a[b',
          'a\\b',
          'a_b',
          'axb',
          'aä',
          'a\uE000',
          'a\u{1F98B}',
        ]
        for (const limit of [1, 4, 100]) expect(await listAll(store, 'a', limit)).toEqual(sorted)
      })

      it('goes on past entries that are deleted or expire meanwhile', async () => {
        const store = await connect()
        const expiresAt = Date.now() + 1000
        const keys = Array.from({ length: 20 }, (_, index) => `k${String(index).padStart(2, '0')}`)
        await made(
          store,
          ...keys.map((key, index) => ({ key, value: '', ...(index % 10 < 8 && { expiresAt }) })),
        )
        const { keys: first, next } = await store.list({ prefix: 'k', limit: 3 })
        expect(first).toEqual(keys.slice(0, 3))
        await eventually(() => expect(Date.now()).toBeGreaterThan(expiresAt + 20))
        await made(store, { key: 'k08' })
        const rest: string[] = []
        for (let after = next; after !== undefined; ) {
          const page = await store.list({ prefix: 'k', limit: 3, after })
          rest.push(...page.keys)
          after = page.next
        }
        expect(rest).toEqual(['k09', 'k18', 'k19'])
      })
    })

    it('another prefix has other entries, under the same keys, versions and commits', async () => {
      const [here, there] = [await connect(), await connect()]
      const version = newVersion()
      expect(await here.commit(version, [{ key: 'a', value: 'here', ifVersion: null }])).toBe(true)
      expect(await there.read('a')).toBeUndefined()
      expect(await listAll(there, '')).toEqual([])
      expect(await there.commit(newVersion(), [{ key: 'a', value: '', ifVersion: version }])).toBe(false)
      expect(await there.commit(version, [{ key: 'a', value: 'there', ifVersion: null }])).toBe(true)
      await made(there, { key: 'a' })
      expect(await here.read('a')).toEqual({ value: 'here', version })
    })

    it('while it is down: rejects within its limit with one line, and recovers', async (context) => {
      if (backend.outages === undefined) return context.skip()
      for (const [kind, outage] of Object.entries(backend.outages)) {
        const store = await connect({ timeoutMs: 1000 })
        const version = await made(store, { key: 'a', value: 'before' })
        await outage.begin()
        const calls = [
          () => store.read('a'),
          () => store.commit(newVersion(), [{ key: 'b', value: '', ifVersion: null }]),
          () => store.list({ prefix: '', limit: 10 }),
        ]
        for (const call of calls) {
          const startedAt = performance.now()
          await expect(call(), kind).rejects.toThrow(/^[^\n]+$/)
          expect(performance.now() - startedAt).toBeLessThan(10_000)
        }
        await outage.end()
        expect(await eventually(() => store.read('a'))).toEqual({ value: 'before', version })
        const writes = [{ key: 'c', value: '' }]
        expect(await eventually(() => store.commit(newVersion(), writes))).toBe(true)
      }
    })
  })
}
