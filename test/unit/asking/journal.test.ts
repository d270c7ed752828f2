/** The journal of a call as the client keeps it: when there is one, how large it may be, and what is refused. */
import { afterEach, describe, expect, it, vi } from 'vitest'
import { ProtocolError } from '../../../src/index.ts'
import { EMPTY_JOURNAL, type Journal } from '../../../src/interaction/journal.ts'
import type { Binding, Opened, Seal } from '../../../src/interaction/seal.ts'
import {
  restoreJournal,
  type StateOptions,
  sealIfNeeded,
  sealJournal,
} from '../../../src/interaction/state.ts'

const NOW = 1_800_000_000_000
const MAX_STATE = 32_768
const MAX_JOURNAL = 1_048_576

const binding: Binding = { era: 'modern', method: 'tools/call', target: 't', arguments: {}, principal: '' }

/** A seal that seals nothing. */
function sealOf(token: string, opened: Opened = { ok: true, value: 'journal', id: 'id', expiresAt: 5 }) {
  const calls: unknown[][] = []
  const seal: Seal = {
    seal: async (...args) => {
      calls.push(args)
      return token
    },
    open: async (...args) => {
      calls.push(args)
      return opened
    },
  }
  return { seal, calls }
}

function optionsOf(more: Partial<StateOptions> = {}) {
  const refused: string[] = []
  const options: StateOptions = {
    seal: sealOf('sealed').seal,
    ttlMs: 1000,
    singleUse: undefined,
    onRefused: (reason) => refused.push(reason),
    ...more,
  }
  return { options, refused }
}

const keep = (journal: Partial<Journal>, more: Partial<StateOptions> = {}) =>
  sealIfNeeded({ ...EMPTY_JOURNAL, ...journal }, binding, optionsOf(more).options)

const claim = () => true

afterEach(() => vi.useRealTimers())

describe('a state', () => {
  it.each<[string, Partial<Journal>]>([
    ['an answer', { answers: { a: 1 } }],
    ['a step', { steps: { a: [] } }],
    ['a state of the tool', { state: 's' }],
    ['an empty state of the tool', { state: '' }],
    ['an answer that did not fit', { refusals: { a: [1, 'why'] } }],
    ['an answer that was not read', { unread: { a: 1 } }],
  ])('is kept for %s', async (_label, journal) => {
    expect(await keep(journal)).toBe('sealed')
  })

  it('is not kept for nothing, unless it must be used once', async () => {
    expect(await keep({})).toBeUndefined()
    expect(await keep({}, { singleUse: { claim } })).toBe('sealed')
  })

  it.each<[string, Partial<Journal>, Partial<StateOptions>]>([
    ['an answer', { answers: { a: 1 } }, {}],
    ['a step', { steps: { a: [] } }, {}],
    ['a state of the tool', { state: 's' }, {}],
    ['single use', {}, { singleUse: { claim } }],
  ])('without a secret: %s → an error that says what to set', async (_label, journal, more) => {
    const kept = keep(journal, { seal: undefined, ...more })
    await expect(kept).rejects.toThrow(/MAYFLY_SECRET \(32 or more random characters\)/)
    await expect(kept).rejects.toMatchObject({ code: -32603 })
  })

  it.each<[string, Partial<Journal>]>([
    ['answers that did not fit', { refusals: { a: [1, 'why'] } }],
    ['answers that were not read', { unread: { a: 1 } }],
  ])('without a secret: %s → are forgotten', async (_label, journal) => {
    expect(await keep(journal, { seal: undefined })).toBeUndefined()
  })

  it('is sealed with the journal, for this call, until its time is over', async () => {
    vi.useFakeTimers({ now: NOW, toFake: ['Date'] })
    const { seal, calls } = sealOf('sealed')
    const journal: Journal = { ...EMPTY_JOURNAL, answers: { a: 1 } }
    await sealJournal(journal, binding, optionsOf({ seal, ttlMs: 7 }).options)
    expect(calls).toEqual([[journal, binding, NOW + 7]])
  })
})

describe('a state that is too large', () => {
  it.each([
    [MAX_STATE, true],
    [MAX_STATE + 1, false],
  ])('%i characters sealed → %s', async (length, fits) => {
    const { seal } = sealOf('x'.repeat(length))
    const sealed = sealJournal(EMPTY_JOURNAL, binding, optionsOf({ seal }).options)
    if (fits) expect(await sealed).toHaveLength(length)
    else await expect(sealed).rejects.toThrow(`(${length} of ${MAX_STATE} characters)`)
  })

  it.each([
    [MAX_JOURNAL, true],
    [MAX_JOURNAL + 1, false],
  ])('%i characters to seal → %s', async (length, fits) => {
    const frame = JSON.stringify({ ...EMPTY_JOURNAL, steps: { big: [''] } }).length
    const journal = { ...EMPTY_JOURNAL, steps: { big: ['x'.repeat(length - frame)] } }
    const { seal, calls } = sealOf('sealed')
    const sealed = sealJournal(journal, binding, optionsOf({ seal }).options)
    if (fits) expect(await sealed).toBe('sealed')
    else await expect(sealed).rejects.toThrow(`(${length} of ${MAX_JOURNAL} characters)`)
    expect(calls).toHaveLength(fits ? 1 : 0)
  })

  const tooLarge = async (journal: Partial<Journal>) => {
    const { seal } = sealOf('x'.repeat(MAX_STATE + 1))
    return sealJournal({ ...EMPTY_JOURNAL, ...journal }, binding, optionsOf({ seal }).options).catch(
      (error: ProtocolError) => error as ProtocolError,
    ) as Promise<ProtocolError>
  }

  it.each<[string, Partial<Journal>, number]>([
    [
      'return less from step "large".',
      { steps: { small: [1], large: ['xxxxx'], other: [22] }, answers: { a: 1 } },
      -32603,
    ],
    [
      'return less from requestState.',
      { state: 'xxxxxxxxxx', steps: { small: ['x'] }, answers: { a: 1 } },
      -32603,
    ],
    ['return less from requestState.', {}, -32603],
    ['because of answer "large".', { answers: { small: 1, large: 'xxxxxxxx' }, steps: { s: ['x'] } }, -32602],
    ['because of answer "late".', { unread: { late: 'xxxxxxxx' }, answers: { a: 1 } }, -32602],
  ])('→ names what takes most: %s', async (text, journal, code) => {
    const error = await tooLarge(journal)
    expect(error).toBeInstanceOf(ProtocolError)
    expect(error.message).toContain(text)
    expect(error.code).toBe(code)
    expect(error.message.startsWith('Invalid params: ')).toBe(code === -32602)
  })
})

describe('a state that comes back', () => {
  const REFUSAL = 'Invalid params: "requestState" is not valid here. Send the request again without it.'

  const restore = async (state: string, more: Partial<StateOptions> = {}) => {
    const { options, refused } = optionsOf(more)
    const outcome = await restoreJournal(state, binding, options).catch((error: ProtocolError) => error)
    return { outcome, refused }
  }

  it('opens for its call', async () => {
    const { seal, calls } = sealOf('')
    expect(await restore('state', { seal })).toEqual({ outcome: 'journal', refused: [] })
    expect(calls).toEqual([['state', binding]])
  })

  it.each<[string, string, Partial<StateOptions>]>([
    ['without a secret', 'this deployment has no secret', { seal: undefined }],
    ['that does not open', 'some reason', { seal: sealOf('', { ok: false, reason: 'some reason' }).seal }],
    ['that was used', 'it was used before', { singleUse: { claim: () => false } }],
    ['that was used, said later', 'it was used before', { singleUse: { claim: async () => false } }],
  ])('%s → the one refusal, and the log knows why', async (_label, reason, more) => {
    const { outcome, refused } = await restore('state', more)
    expect(outcome).toMatchObject({ code: -32602, message: REFUSAL })
    expect(refused).toEqual([reason])
  })

  it.each([
    [MAX_STATE, []],
    [MAX_STATE + 1, ['it is too long']],
  ])('of %i characters → %j', async (length, reasons) => {
    const { seal, calls } = sealOf('')
    expect((await restore('x'.repeat(length), { seal })).refused).toEqual(reasons)
    expect(calls).toHaveLength(reasons.length === 0 ? 1 : 0)
  })

  it('is claimed by its id, until it expires', async () => {
    const claimed: unknown[] = []
    const singleUse = { claim: (...args: unknown[]) => claimed.push(args) > 0 }
    expect((await restore('state', { singleUse })).outcome).toBe('journal')
    expect(claimed).toEqual([['id', 5]])
  })
})
