/** Names of servers and stages: never the same for two, and valid everywhere, also with a suffix. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { serverName } from '../../src/definition/server-name.ts'
import { check } from './_seeded.ts'

const character = fc.constantFrom('a', 'b', '-', '_', '/', '.', '@', 'A', '0', '\0')
const id = fc.oneof(
  fc.string({ unit: character, maxLength: 5 }),
  fc.string({ unit: 'binary', maxLength: 80 }),
  fc.string({ unit: character, minLength: 30, maxLength: 60 }),
)
const stage = fc.option(
  fc
    .oneof(
      fc.string({ unit: fc.constantFrom('a', 'b', '-', '0'), minLength: 1, maxLength: 4 }),
      fc.string({ unit: fc.constantFrom('a', 'b', '-'), minLength: 1, maxLength: 20 }),
    )
    .filter((text) => /^[a-z](?:-?[a-z0-9])*$/.test(text)),
  { nil: undefined },
)

it('names are at most 44 characters of [a-z0-9_], with a letter first', async () => {
  await check(
    fc.property(id, stage, (one, at) => {
      expect(serverName(one, at)).toMatch(/^[a-z][a-z0-9_]{0,43}$/)
    }),
    2000,
  )
})

it('different servers or stages have different names', async () => {
  const seen = new Map<string, string>()
  await check(
    fc.property(id, stage, (one, at) => {
      const name = serverName(one, at)
      const who = JSON.stringify([one, at])
      expect(seen.get(name) ?? who).toBe(who)
      seen.set(name, who)
    }),
    5000,
  )
})
