/** A file, and one that several processes write at once. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { fileKeyStore } from '../../../adapters/node.ts'
import { createKeyAdmin, createMemoryKeyStore } from '../../../src/keys.ts'
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

describe('the file', () => {
  it('has every key that four processes make at once, and no key is lost to one that is revoked or used', async () => {
    const path = join(folder, 'many.json')
    const source = (name: string) => `
      import { fileKeyStore } from ${JSON.stringify(new URL('../../../adapters/node.ts', import.meta.url).href)}
      import { createKeyAdmin } from ${JSON.stringify(new URL('../../../src/keys.ts', import.meta.url).href)}
      const store = fileKeyStore(${JSON.stringify(path)})
      const admin = createKeyAdmin(store)
      for (let made = 0; made < 15; made++) {
        const { id } = await admin.create({ name: '${name} ' + made })
        await Promise.all([store.use(id, 5), admin.revoke(id)])
      }`
    const processes = ['a', 'b', 'c', 'd'].map((name) => {
      const args = ['--input-type=module-typescript', '--no-warnings', '--eval', source(name)]
      return spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] })
    })
    const codes = await Promise.all(processes.map(async (child) => (await once(child, 'exit'))[0]))
    expect(codes).toEqual([0, 0, 0, 0])
    const { keys } = await createKeyAdmin(fileKeyStore(path)).list({ limit: 1000 })
    expect(new Set(keys.map(({ name }) => name)).size).toBe(60)
    expect(keys.every(({ revokedAt, lastUsedAt }) => revokedAt! > 0 && lastUsedAt === 5)).toBe(true)
    expect(readdirSync(folder).filter((name) => name.startsWith('many'))).toEqual(['many.json'])
  })

  it.skipIf(process.platform === 'win32')('is readable by its owner alone, and has no key', async () => {
    const path = join(folder, 'private.json')
    const { key } = await createKeyAdmin(fileKeyStore(path)).create({ name: 'ci' })
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(readFileSync(path, 'utf8')).not.toContain(key.slice(16, 24))
  })

  it.each(['', '{', '{}', '[1]', '[{"id":"x"}]'])(
    'that contains %j → an error that names it, and it stays',
    async (text) => {
      const path = join(folder, 'broken.json')
      writeFileSync(path, text)
      const store = fileKeyStore(path)
      await expect(store.read('0'.repeat(12))).rejects.toThrow(/broken\.json|stored API key/)
      await expect(createKeyAdmin(store).create({ name: 'ci' })).rejects.toThrow(
        /broken\.json|stored API key/,
      )
      expect(readFileSync(path, 'utf8')).toBe(text)
    },
  )

  it('a lock of a killed process is removed; a fresh one is waited for, and then named', async () => {
    const path = join(folder, 'locked.json')
    const admin = createKeyAdmin(fileKeyStore(path))
    writeFileSync(`${path}.lock`, '')
    const old = new Date(Date.now() - 60_000)
    utimesSync(`${path}.lock`, old, old)
    await admin.create({ name: 'ci' })
    writeFileSync(`${path}.lock`, '')
    const ahead = new Date(Date.now() + 60_000)
    utimesSync(`${path}.lock`, ahead, ahead)
    await expect(admin.create({ name: 'ci' })).rejects.toThrow(/is locked: remove .*locked\.json\.lock/)
  })

  it('needs a path', () => {
    for (const path of ['', undefined, 1]) expect(() => fileKeyStore(path as never)).toThrow(TypeError)
  })
})
