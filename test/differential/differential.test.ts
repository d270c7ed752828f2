/** Mayfly against the official SDK v2: the same request, the same answer, or a difference that is listed. */
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { corpus } from './corpus/all.ts'
import { type Difference, differences } from './differences.ts'
import { createMayflyPeer } from './mayfly-server.ts'
import { type Outcome, outcomeOf } from './outcome.ts'
import { createSdkPeer } from './sdk-server.ts'

const mayflyOutcomes = new Map<string, Outcome>()
const expectedOutcomes = new Map<string, Outcome>()
const faults = new Map<string, unknown>()
const uses = new Map<Difference, string[]>(differences.map((difference) => [difference, []]))
/** Differences that changed nothing where they applied. */
const idle: string[] = []

beforeAll(async () => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined)
  const sdk = createSdkPeer()
  for (const entry of corpus) {
    const mayfly = createMayflyPeer((error, facts) => {
      // Forged state is reported to the operator, but it is the client's fault.
      if (facts.refused === undefined) faults.set(entry.id, error)
    })
    mayflyOutcomes.set(entry.id, await outcomeOf(mayfly, entry))
    let expected = await outcomeOf(sdk, entry)
    for (const difference of differences) {
      const { applies, asIf, instead, name } = difference
      if (typeof applies === 'function' ? !applies(entry, expected) : !applies.includes(entry.id)) continue
      uses.get(difference)!.push(entry.id)
      const before = expected
      if (asIf !== undefined) expected = await outcomeOf(sdk, asIf(entry))
      if (instead !== undefined) expected = instead(expected, entry)
      if (JSON.stringify(before) === JSON.stringify(expected)) idle.push(`${name}: ${entry.id}`)
    }
    expectedOutcomes.set(entry.id, expected)
  }
  vi.restoreAllMocks()
})

describe('the corpus', () => {
  test('holds more than 220 requests, each under its own id', () => {
    expect(corpus.length).toBeGreaterThan(220)
    expect(new Set(corpus.map(({ id }) => id)).size).toBe(corpus.length)
  })

  test.each(corpus.map(({ id }) => id))('%s → what the SDK answers, or what is listed', (id) => {
    expect(mayflyOutcomes.get(id)).toEqual(expectedOutcomes.get(id))
  })

  test('a fault of the server is reported where user code throws, and nowhere else', () => {
    const expected = /throw|reject|wrong-output|no-output|large numbers/
    expect([...faults.keys()].filter((id) => !expected.test(id))).toEqual([])
    expect(faults.has('call throw@modern')).toBe(true)
  })

  test('no request gets a status of 500 or above', () => {
    expect([...mayflyOutcomes].filter(([, { status }]) => status >= 500)).toEqual([])
  })
})

describe('the listed differences', () => {
  test.each(differences.map((difference) => [difference.name, difference] as const))(
    '%s → met by the corpus, wherever it is listed',
    (_name, difference) => {
      const { applies } = difference
      const met = uses.get(difference)!
      if (typeof applies === 'function') expect(met).not.toEqual([])
      else expect([...met].sort()).toEqual([...applies].sort())
    },
  )

  test('each one differs wherever it applies', () => {
    expect(idle).toEqual([])
  })
})
