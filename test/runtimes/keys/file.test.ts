/** A file, and one that several processes write at once. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setImmediate } from 'node:timers/promises'
import { afterAll, describe, expect, it } from 'vitest'
import { fileKeyStore } from '../../../adapters/node.ts'
import { apiKeys, createKeyAdmin, createMemoryKeyStore } from '../../../src/keys.ts'
import { requireVariables } from '../../../src/request/start.ts'
import { createServer } from '../../unit/_client.ts'
import { keyStoreSuite } from './_suite.ts'

const folder = mkdtempSync(join(tmpdir(), 'mayfly-keys-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

keyStoreSuite('a file', async () => {
  const path = join(folder, 'sub/keys.json')
  return { here: fileKeyStore(path), there: fileKeyStore(path), stop: async () => {} }
})

keyStoreSuite('memory', async () => {
  const store = createMemoryKeyStore()
  return { here: store, there: store, stop: async () => {} }
})

/** Runs `work`, with `store` and `admin`, in a process of its own. */
function inProcess(path: string, work: string): ChildProcess {
  const source = `
    import { fileKeyStore } from ${JSON.stringify(new URL('../../../adapters/node.ts', import.meta.url).href)}
    import { createKeyAdmin } from ${JSON.stringify(new URL('../../../src/keys.ts', import.meta.url).href)}
    const store = fileKeyStore(${JSON.stringify(path)})
    const admin = createKeyAdmin(store, { server: 'test' })
    ${work}`
  const args = ['--input-type=module-typescript', '--no-warnings', '--eval', source]
  return spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
}

describe('the file', () => {
  it('has every key that four processes make at once, and no key is lost to one that is revoked or used', async () => {
    const path = join(folder, 'many.json')
    const processes = ['a', 'b', 'c', 'd'].map((name) =>
      inProcess(
        path,
        `for (let made = 0; made < 15; made++) {
          const { id } = await admin.create({ name: '${name} ' + made })
          await Promise.all([store.use(id, 5), admin.revoke(id)])
        }`,
      ),
    )
    const codes = await Promise.all(processes.map(async (child) => (await once(child, 'exit'))[0]))
    expect(codes).toEqual([0, 0, 0, 0])
    const { keys } = await createKeyAdmin(fileKeyStore(path), { server: 'test' }).list({ limit: 1000 })
    expect(new Set(keys.map(({ name }) => name)).size).toBe(60)
    expect(keys.every(({ revokedAt, lastUsedAt }) => revokedAt! > 0 && lastUsedAt === 5)).toBe(true)
    expect(readdirSync(folder).filter((name) => name.startsWith('many'))).toEqual([
      'many.json',
      'many.json.used',
    ])
  })

  it.skipIf(process.platform === 'win32')(
    'a process that is paused at any moment, for longer than anyone waits, undoes nothing when it goes on [keys.stores]',
    { timeout: 120_000 },
    async () => {
      const path = join(folder, 'paused.json')
      const admin = createKeyAdmin(fileKeyStore(path), { server: 'test' })
      const { id: used } = await admin.create({ name: 'used' })
      const child = inProcess(
        path,
        `for (let at = 0; ; at += 4_000_000) {
          await store.use('${used}', at)
          const { id } = await admin.create({ name: 'of the child' })
          await admin.revoke(id)
          console.log(id)
        }`,
      )
      const told: string[] = []
      const lines = createInterface({ input: child.stdout! }).on('line', (line) => void told.push(line))
      const goesOn = async (): Promise<void> => {
        const before = told.length
        while (told.length < before + 2) await once(lines, 'line')
      }
      try {
        await goesOn()
        const made: string[] = []
        for (let pauses = 0; pauses < 20; pauses++) {
          const { id } = await admin.create({ name: 'revoked' })
          await goesOn()
          // Each time at another step of what it does.
          for (let turns = 0; turns < 15 * pauses; turns++) await setImmediate()
          child.kill('SIGSTOP')
          expect(await admin.revoke(id)).toBe(true)
          made.push((await admin.create({ name: 'made' })).id)
          child.kill('SIGCONT')
          await goesOn()
          const store = fileKeyStore(path)
          expect((await store.read(id))?.revokedAt).toBeGreaterThan(0)
          for (const one of made) expect((await store.read(one))?.name).toBe('made')
          for (const one of told) expect((await store.read(one))?.revokedAt).toBeGreaterThan(0)
        }
      } finally {
        child.kill('SIGKILL')
      }
    },
  )

  it.skipIf(process.platform === 'win32')('is readable by its owner alone, and has no key', async () => {
    const path = join(folder, 'private.json')
    const { key } = await createKeyAdmin(fileKeyStore(path), { server: 'test' }).create({ name: 'ci' })
    const store = fileKeyStore(path)
    await store.use!((await store.list({ limit: 1 })).keys[0]!.id, 1)
    for (const one of [path, `${path}.used`]) expect(statSync(one).mode & 0o777).toBe(0o600)
    expect(readFileSync(path, 'utf8')).not.toContain(key.slice(16, 24))
  })

  it.each(['{\n', '{}', '[1]', '{"id":"x"}', 'A=1', '{"id":"000000000000","revokedAt":"today"}'])(
    'that contains %j → an error that names it and the line, and it stays',
    async (text) => {
      const path = join(folder, 'broken.json')
      writeFileSync(path, text)
      const store = fileKeyStore(path)
      await expect(store.read('0'.repeat(12))).rejects.toThrow(/^Line 1 of .*broken\.json is not an API key/)
      await expect(createKeyAdmin(store, { server: 'test' }).create({ name: 'ci' })).rejects.toThrow(
        /broken\.json/,
      )
      expect(readFileSync(path, 'utf8')).toBe(text)
    },
  )

  it('a line that was cut at any character makes no key, revokes one at the latest where its time begins, and disturbs no later line', async () => {
    const path = join(folder, 'cut.json')
    const admin = createKeyAdmin(fileKeyStore(path), { server: 'test' })
    const { id } = await admin.create({ name: 'ümläut' })
    const { id: other } = await admin.create({ name: 'b' })
    const before = readFileSync(path)
    await admin.revoke(id)
    const whole = readFileSync(path)
    const decided = '","revokedAt"'.length + '{"id":"'.length + id.length
    for (const end of [before.length - 2, before.length - 1]) {
      writeFileSync(path, whole.subarray(0, end))
      const isThere = end === before.length - 1
      expect((await fileKeyStore(path).read(other)) !== undefined).toBe(isThere)
      const { id: next } = await createKeyAdmin(fileKeyStore(path), { server: 'test' }).create({
        name: 'next',
      })
      expect(await fileKeyStore(path).read(next)).toBeDefined()
    }
    for (let end = before.length; end <= whole.length; end++) {
      writeFileSync(path, whole.subarray(0, end))
      const isRevoked = end - before.length >= decided
      expect((await fileKeyStore(path).read(id))!.revokedAt !== undefined).toBe(isRevoked)
      const { id: next } = await createKeyAdmin(fileKeyStore(path), { server: 'test' }).create({
        name: 'next',
      })
      const store = fileKeyStore(path)
      expect((await store.read(id))!.revokedAt !== undefined).toBe(isRevoked)
      for (const one of [next, other]) expect((await store.read(one))?.revokedAt).toBeUndefined()
      expect(await store.revoke(id, 5)).toBe(true)
      expect((await store.read(id))!.revokedAt).toBeDefined()
    }
  })

  it('a revocation before its key, as after sorting the lines by hand, counts', async () => {
    const path = join(folder, 'sorted.json')
    const admin = createKeyAdmin(fileKeyStore(path), { server: 'test' })
    const { id } = await admin.create({ name: 'ci' })
    await admin.revoke(id)
    writeFileSync(path, readFileSync(path, 'utf8').trim().split('\n').reverse().join('\n'))
    expect((await fileKeyStore(path).read(id))!.revokedAt).toBeGreaterThan(0)
    const { id: next } = await admin.create({ name: 'next' })
    expect(await fileKeyStore(path).read(next)).toBeDefined()
  })

  it('last uses never change it, and their file stays small; without that file, keys are served', async () => {
    const path = join(folder, 'used.json')
    const store = fileKeyStore(path)
    const { id } = await createKeyAdmin(store, { server: 'test' }).create({ name: 'ci' })
    const before = readFileSync(path, 'utf8')
    writeFileSync(`${path}.used`, Array.from({ length: 40_000 }, (_, at) => `${id} ${at}\n`).join(''))
    await store.use!(id, 10 ** 12)
    expect(readFileSync(`${path}.used`, 'utf8')).toBe(`${id} ${10 ** 12}\n`)
    expect((await store.list({ limit: 1 })).keys[0]!.lastUsedAt).toBe(10 ** 12)
    rmSync(`${path}.used`)
    mkdirSync(`${path}.used`)
    await expect(store.use!(id, 10 ** 12)).rejects.toThrow()
    expect(await store.read(id)).toBeDefined()
    expect(readFileSync(path, 'utf8')).toBe(before)
  })

  it('two keys with one id → neither is accepted, and both are named as the fault of the store; the same twice is one [keys.one-id]', async () => {
    const path = join(folder, 'same.jsonl')
    const admin = createKeyAdmin(fileKeyStore(path), { server: 'test' })
    const [{ id }, { id: other }] = [await admin.create({ name: 'ann' }), await admin.create({ name: 'ci' })]
    const [line] = readFileSync(path, 'utf8').split('\n') as [string]
    const store = fileKeyStore(path)
    expect(store.fault).toBeUndefined()
    appendFileSync(path, `${line}\n`)
    expect([store.fault, (await store.read(id))?.name]).toEqual([undefined, 'ann'])
    appendFileSync(path, `${JSON.stringify({ ...JSON.parse(line), name: 'eve', scopes: ['admin'] })}\n`)
    expect(store.fault).toMatch(new RegExp(`same\\.jsonl: .*"ann" and "eve" have one id, mk_${id}`))
    for (const one of [store, fileKeyStore(path)]) {
      expect(await one.read(id)).toBeUndefined()
      expect((await one.read(other))?.name).toBe('ci')
    }
    const server = createServer({ auth: apiKeys({ store }) })
    expect(server.getDeploymentInfo({}).authFault).toContain('"ann" and "eve"')
    expect(() => requireVariables(server, {})).toThrow('auth: ')
    writeFileSync(path, 'A=1')
    expect(server.getDeploymentInfo({}).authFault).toMatch(/^Line 1 of .*same\.jsonl is not an API key/)
  })

  it('needs a path', () => {
    for (const path of ['', undefined, 1]) expect(() => fileKeyStore(path as never)).toThrow(TypeError)
  })
})
