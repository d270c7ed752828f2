/** Questions that wait for steps: not for ever, and nothing stays behind. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { neverSettles } from '../../../src/interaction/ending.ts'
import { EMPTY_JOURNAL } from '../../../src/interaction/journal.ts'
import { type Question, rootsQuestion } from '../../../src/interaction/question.ts'
import type { QuestionError } from '../../../src/interaction/question-error.ts'
import { Replay, type ReplayHooks, type Suspension } from '../../../src/interaction/replay.ts'
import { deferred } from '../_client.ts'

const STEP_TIMEOUT_MS = 60_000

function replayOf(responses: { readonly [key: string]: unknown } = {}, hooks?: ReplayHooks) {
  const suspensions: Suspension[] = []
  const stuck: QuestionError[] = []
  const controller = new AbortController()
  const replay = new Replay({
    journal: EMPTY_JOURNAL,
    responses,
    signal: () => controller.signal,
    onSuspend: (suspension) => suspensions.push(suspension),
    onStuck: (error) => stuck.push(error),
    hooks,
  })
  return { replay, suspensions, stuck, controller }
}

const HOOKS: ReplayHooks = {
  beforeStep: () => undefined,
  stepKey: () => 'key',
  afterStep: () => {},
  conclude: () => undefined,
  onReplay: () => {},
  waitsForSteps: false,
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  // Under fake timers nothing may wait for real threads.
  vi.spyOn(crypto.subtle, 'digest').mockImplementation(async () => new ArrayBuffer(32))
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)

describe('a question that waits for a step', () => {
  it('which waits for the question unseen → an error that names the step, after 60 seconds [ask.inside-step]', async () => {
    const { replay, suspensions, stuck } = replayOf()
    const begun = replay.step(
      'pay',
      () => new Promise(() => setTimeout(() => replay.ask(rootsQuestion()), 0)),
    )
    void replay.step('more', () => new Promise(() => {}))
    await replay.step('done', () => 'done')
    await pass(STEP_TIMEOUT_MS - 1)
    expect(stuck).toEqual([])
    await pass(1)
    expect(stuck).toMatchObject([{ name: 'QuestionError', code: 'INSIDE_STEP' }])
    expect(stuck[0]!.message).toMatch(/60 s ago, inside or next to the step "pay", "more"\..*before or after/)
    expect(suspensions).toEqual([])
    // The call is over: neither does the step settle, nor does another begin.
    const settled = vi.fn()
    void begun.finally(settled)
    void replay.step('late', settled).finally(settled)
    await pass(STEP_TIMEOUT_MS)
    expect(settled).not.toHaveBeenCalled()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('which ends in time → goes out then, and no timer is left', async () => {
    const { replay, suspensions, stuck } = replayOf()
    const work = deferred<string>()
    void replay.step('load', () => work.promise)
    void replay.ask(rootsQuestion())
    await pass(STEP_TIMEOUT_MS - 1)
    expect(suspensions).toEqual([])
    work.resolve('loaded')
    await pass(1)
    expect(suspensions).toMatchObject([{ questions: [{}], journal: { steps: { load: ['loaded'] } } }])
    expect([stuck, vi.getTimerCount()]).toEqual([[], 0])
  })

  it('and then another → has the whole time for each', async () => {
    const { replay, suspensions, stuck } = replayOf()
    void replay.ask(rootsQuestion())
    const sleep = () => new Promise((resolve) => setTimeout(resolve, STEP_TIMEOUT_MS - 1000))
    void replay.step('first', sleep).then(() => replay.step('second', sleep))
    await pass(2 * STEP_TIMEOUT_MS)
    expect(stuck).toEqual([])
    expect(suspensions).toHaveLength(1)
  })

  it('which fails → goes out then', async () => {
    const { replay, suspensions } = replayOf()
    const work = deferred()
    void replay.ask(rootsQuestion())
    const failed = expect(replay.step('load', () => work.promise)).rejects.toThrow('no')
    await pass(1)
    expect(suspensions).toEqual([])
    work.reject(new Error('no'))
    await failed
    await pass(1)
    expect(suspensions).toHaveLength(1)
    expect(suspensions[0]!.journal.steps).toEqual({})
  })

  it('of a call that was answered meanwhile → is not asked, and no timer is left', async () => {
    const { replay, suspensions, stuck } = replayOf()
    void replay.step('load', () => new Promise(() => {}))
    void replay.ask(rootsQuestion())
    await pass(1)
    expect(vi.getTimerCount()).toBe(1)
    replay.close()
    expect(vi.getTimerCount()).toBe(0)
    await pass(STEP_TIMEOUT_MS)
    expect([suspensions, stuck]).toEqual([[], []])
    await expect(replay.ask(rootsQuestion())).rejects.toMatchObject({ code: 'CALL_OVER' })
    expect(await replay.step('after', () => 'runs')).toBe('runs')
  })

  it('alone → goes out in the next turn, with what was asked in this one', async () => {
    const { replay, suspensions } = replayOf()
    void replay.ask(rootsQuestion())
    await Promise.resolve()
    void replay.ask(rootsQuestion())
    await pass(0)
    expect(suspensions.map(({ questions }) => questions.length)).toEqual([2])
    await pass(STEP_TIMEOUT_MS)
    expect(suspensions).toHaveLength(1)
  })
})

describe('what is not waited for', () => {
  it('a call without a question → is not suspended, however long it waits between its steps', async () => {
    const { replay, suspensions } = replayOf()
    expect(await replay.step('one', () => 1)).toBe(1)
    await pass(STEP_TIMEOUT_MS)
    expect(await replay.step('two', () => 2)).toBe(2)
    expect([suspensions, vi.getTimerCount()]).toEqual([[], 0])
  })

  it('a validation that takes long → is no step, and is waited for', async () => {
    const answered = deferred<{ ok: true; value: string }>()
    const slow: Question = { ...rootsQuestion(), validate: () => answered.promise }
    const { replay: first, suspensions: asked } = replayOf()
    void first.ask(slow)
    await pass(0)
    const { replay, suspensions, stuck } = replayOf({ [asked[0]!.questions[0]!.key]: 'answer' })
    const answer = replay.ask(slow)
    void replay.ask({ ...rootsQuestion(), params: { other: true } })
    await pass(2 * STEP_TIMEOUT_MS)
    expect([suspensions, stuck, vi.getTimerCount()]).toEqual([[], [], 0])
    answered.resolve({ ok: true, value: 'answered' })
    expect(await answer).toBe('answered')
    await pass(1)
    expect(suspensions).toHaveLength(1)
  })
})

describe('the order of questions', () => {
  it('is that in which they are asked, however long their names take to make', async () => {
    const delays = [20, 0, 10]
    vi.mocked(crypto.subtle.digest).mockImplementation(async (_algorithm, bytes) => {
      await new Promise((resolve) => setTimeout(resolve, delays.shift()))
      return (bytes as Uint8Array<ArrayBuffer>).slice(-32).buffer
    })
    const { replay, suspensions } = replayOf()
    const nth = (n: number): Question => ({ ...rootsQuestion(), params: { n } })
    for (const n of [1, 2, 3]) void replay.ask(nth(n))
    await pass(100)
    expect(suspensions[0]!.questions.map(({ question }) => question.params)).toEqual([
      { n: 1 },
      { n: 2 },
      { n: 3 },
    ])
  })
})

describe('answers to questions that are not asked in a round', () => {
  it('are kept where they are answers to ours', async () => {
    const ours = 'abcdefghijklmnopqrst-_'
    const kept = { [ours]: 1, [`${ours}-1`]: 2, [`${ours}-12`]: 3, [`key-${ours}`]: 4 }
    const { replay, suspensions } = replayOf({
      ...kept,
      stranger: 5,
      [ours.slice(1)]: 6,
      [`${ours}!`]: 7,
      [`${ours}-x!`]: 8,
      [`${ours} -x`]: 9,
    })
    void replay.ask(rootsQuestion())
    await pass(0)
    expect(suspensions[0]!.journal.unread).toEqual(kept)
  })
})

describe('a call that is over', () => {
  it('while steps run beside a question → no timer is left, or set', async () => {
    const { replay, suspensions, stuck } = replayOf()
    const work = deferred()
    void replay.step('one', () => work.promise)
    void replay.step('two', () => new Promise(() => {}))
    void replay.ask(rootsQuestion())
    await pass(1)
    replay.end()
    expect(vi.getTimerCount()).toBe(0)
    work.resolve()
    await pass(0)
    expect(vi.getTimerCount()).toBe(0)
    await pass(STEP_TIMEOUT_MS)
    expect([suspensions, stuck]).toEqual([[], []])
  })

  it('a step that begins while the state is sealed → does not run, and is not in the journal [ask.step-late]', async () => {
    const ran = vi.fn()
    const controller = new AbortController()
    let journal: unknown
    const replay: Replay = new Replay({
      journal: EMPTY_JOURNAL,
      responses: {},
      signal: () => controller.signal,
      onSuspend: (suspension) => {
        void replay.step('late', ran)
        journal = JSON.parse(JSON.stringify(suspension.journal))
      },
      onStuck: () => {},
    })
    void replay.ask(rootsQuestion())
    await pass(10)
    expect(ran).not.toHaveBeenCalled()
    expect(journal).toMatchObject({ answers: {}, steps: {}, errors: {}, order: [] })
  })

  it('ended otherwise → nothing is begun, nothing settles, nothing is suspended', async () => {
    const { replay, suspensions } = replayOf()
    void replay.ask(rootsQuestion())
    await Promise.resolve()
    replay.end()
    replay.close()
    const settled = vi.fn()
    for (const promise of [
      replay.ask(rootsQuestion()),
      replay.step('x', settled),
      replay.askReturned([], 's'),
    ])
      void promise.finally(settled)
    await pass(STEP_TIMEOUT_MS)
    expect(settled).not.toHaveBeenCalled()
    expect(suspensions).toEqual([])
  })

  it('aborted → questions and steps reject with the reason, closed or not', async () => {
    const { replay, controller } = replayOf()
    const ran = vi.fn()
    controller.abort('gone')
    await expect(replay.ask(rootsQuestion())).rejects.toBe('gone')
    await expect(replay.step('x', ran)).rejects.toBe('gone')
    replay.close()
    await expect(replay.ask(rootsQuestion())).rejects.toBe('gone')
    expect(ran).not.toHaveBeenCalled()
  })
})

describe('a call that sleeps', () => {
  it('beside a long step → waits for it without an error, and is suspended then', async () => {
    const { replay, suspensions, stuck } = replayOf()
    const work = deferred<string>()
    void replay.step('load', () => work.promise)
    void replay.park()
    await pass(2 * STEP_TIMEOUT_MS)
    expect([suspensions, stuck]).toEqual([[], []])
    work.resolve('loaded')
    await pass(1)
    expect(suspensions).toMatchObject([{ questions: [], journal: { steps: { load: ['loaded'] } } }])
  })
})

describe('a call whose client left while a question got its key', () => {
  it('→ the question rejects with the reason, and is not asked', async () => {
    const { replay, suspensions, controller } = replayOf()
    const asked = expect(replay.ask(rootsQuestion())).rejects.toThrow('left')
    controller.abort(new Error('left'))
    await asked
    await pass(STEP_TIMEOUT_MS)
    expect(suspensions).toEqual([])
  })
})

describe('a step that may not start', () => {
  it('→ does not run, and does not settle', async () => {
    const { replay } = replayOf({}, { ...HOOKS, beforeStep: neverSettles })
    const ran = vi.fn()
    void replay.step('pay', ran).finally(ran)
    await pass(STEP_TIMEOUT_MS)
    expect(ran).not.toHaveBeenCalled()
  })
})

describe('a call', () => {
  it('runs a step from its start to its end', async () => {
    const { replay } = replayOf()
    const work = deferred()
    expect(replay.isRunningStep).toBe(false)
    const step = replay.step('load', () => work.promise)
    expect(replay.isRunningStep).toBe(true)
    work.resolve()
    await step
    expect(replay.isRunningStep).toBe(false)
  })

  it.each<[string, (replay: Replay) => unknown]>([
    ['has asked', (replay) => replay.ask(rootsQuestion())],
    ['sleeps', (replay) => replay.park()],
    ['was ended', (replay) => replay.end()],
  ])('that %s → is suspended, even while a step runs', async (_what, suspend) => {
    const { replay } = replayOf()
    void replay.step('load', () => new Promise(() => {}))
    await pass(1)
    expect(replay.isSuspended()).toBe(false)
    void suspend(replay)
    await pass(1)
    expect(replay.isSuspended()).toBe(true)
  })
})
