/** What tools with money do, and what must never be seen of them. */
import * as z from 'zod'
import { createTool } from '../../src/index.ts'
import type { StoredTask, TaskContext } from '../../src/tasks.ts'

/** Everything seen of one call. */
export class History {
  /** Effects in their order. */
  readonly effects: string[] = []
  readonly faults: string[] = []
  /** The latest journal of each task. */
  readonly #stored = new Map<string, StoredTask>()
  /** The steps that were ever in a journal. */
  readonly #steps = new Set<string>()

  saw(task: StoredTask): void {
    this.#stored.set(task.id, task)
    const { journal } = JSON.parse(task.state) as { journal: { steps: object; errors?: object } }
    for (const step of Object.keys({ ...journal.steps, ...journal.errors })) this.#steps.add(step)
  }

  stored(id: string): StoredTask {
    return this.#stored.get(id)!
  }

  /** The open tasks that are due. */
  due(now: number): readonly string[] {
    const isDue = ({ isOpen, dueAt }: StoredTask): boolean => isOpen && dueAt !== null && dueAt <= now
    return [...this.#stored.values()].filter(isDue).map(({ id }) => id)
  }

  /** How each task of a tool ended. */
  ends(
    tool: string,
  ): readonly { readonly status: string; readonly text: string; readonly version: number }[] {
    const own = [...this.#stored.values()].filter(({ state }) => toolOf(state) === tool)
    return own.map(({ state, version }) => {
      const { status, result, error } = JSON.parse(state) as {
        status: string
        result?: { content: { text: string }[] }
        error?: { message: string }
      }
      return { status, text: result?.content[0]?.text ?? error?.message ?? '', version }
    })
  }

  /** An effect, as the function of a step. */
  effect(name: string): string {
    if (this.#steps.has(name)) this.faults.push(`step ${name} ran again after it was stored`)
    this.effects.push(name)
    return name
  }

  count(name: string): number {
    return this.effects.filter((one) => one === name).length
  }
}

/** Of a stored task. */
export function toolOf(state: string): string {
  return (JSON.parse(state) as { tool: string }).tool
}

export interface Scenario {
  readonly task: 'required' | { mode: 'auto'; afterMs: number }
  readonly run: (ctx: TaskContext, history: History) => Promise<unknown>
  /** Events, by the effect after which they are sent, or `start`. */
  readonly events?: { readonly [effect: string]: readonly string[] }
  /** Effects of which only one may ever be seen. */
  readonly either?: readonly string[]
  /** The results that the inputs allow. */
  readonly results: readonly string[]
}

const failing = (history: History, name: string) => () => {
  history.effect(name)
  throw Object.assign(new Error('No money.'), { code: 'declined' })
}

/** Does what the first of two events asks for, and returns its name. */
async function raceOfEvents(ctx: TaskContext, history: History): Promise<string> {
  const first = await Promise.race([
    ctx.waitFor('returned').then(() => 'refund'),
    ctx.waitFor('paid').then(() => 'ship'),
  ])
  await ctx.step(first, () => history.effect(first))
  return first
}

export const SCENARIOS: { readonly [name: string]: Scenario } = {
  'an event that is late, after a time-out and an effect': {
    task: 'required',
    run: async (ctx, history) => {
      const paid = await ctx.waitFor('paid', { timeoutMs: 60 }).catch(() => undefined)
      const done = await ctx.step(paid === undefined ? 'cancel' : 'ship', async () => {
        return history.effect(paid === undefined ? 'cancel' : 'ship')
      })
      return `${done} ${await ctx.step('tell', () => history.effect('tell'))}`
    },
    events: { cancel: ['paid'] },
    either: ['cancel', 'ship'],
    results: ['cancel tell'],
  },
  'a race of two events, and the other one later': {
    task: 'required',
    run: async (ctx, history) => {
      const first = await raceOfEvents(ctx, history)
      return ctx.step('tell', () => `${first} ${history.effect('tell')}`)
    },
    events: { start: ['paid'], ship: ['returned'] },
    either: ['refund', 'ship'],
    results: ['ship tell'],
  },
  'two events at once': {
    task: 'required',
    run: async (ctx, history) => {
      const first = await raceOfEvents(ctx, history)
      await ctx.sleep('rest', 20)
      return ctx.step('tell', () => `${first} ${history.effect('tell')}`)
    },
    events: { start: ['paid', 'returned'] },
    either: ['refund', 'ship'],
    results: ['ship tell'],
  },
  'a step that fails, and another in its place': {
    task: 'required',
    run: async (ctx, history) => {
      try {
        return await ctx.step('charge', failing(history, 'charge'))
      } catch (error) {
        await ctx.sleep('rest', 20)
        const { code } = error as { code: string }
        await ctx.step('fallback', () => history.effect('fallback'))
        return ctx.step('tell', () => `${code} ${history.effect('tell')}`)
      }
    },
    results: ['declined tell'],
  },
  'a step that fails twice, with retries': {
    task: 'required',
    run: async (ctx, history) => {
      const keys = new Set<string>()
      const attempt = ({ idempotencyKey }: { idempotencyKey: string }): string => {
        keys.add(idempotencyKey)
        if (keys.size > 1) history.faults.push('two keys of one step')
        if (history.count('try') < 2) failing(history, 'try')()
        return history.effect('charge')
      }
      return ctx.step('pay', attempt, { retries: 5, backoffMs: 10 })
    },
    results: ['charge'],
  },
  'a call that becomes a task in a step': {
    task: { mode: 'auto', afterMs: 20 },
    run: async (ctx, history) => {
      await ctx.step('load', () => history.effect('load'))
      await ctx.step('slow', async () => {
        history.effect('slow')
        await new Promise((resolve) => setTimeout(resolve, 60))
      })
      return ctx.step('charge', () => history.effect('charge'))
    },
    results: ['charge'],
  },
  'a call that becomes a task as it sleeps': {
    task: { mode: 'auto', afterMs: 20 },
    run: async (ctx, history) => {
      await ctx.step('load', () => history.effect('load'))
      await ctx.sleep('rest', 50)
      return ctx.step('charge', () => history.effect('charge'))
    },
    results: ['charge'],
  },
  'a race of two steps': {
    task: 'required',
    run: async (ctx, history) => {
      const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
      const first = await Promise.race([
        ctx.step('slow', () => pause(10).then(() => 'refund')),
        ctx.step('fast', () => pause(5).then(() => 'ship')),
      ])
      await ctx.step(first, () => history.effect(first))
      return ctx.step('tell', () => `${first} ${history.effect('tell')}`)
    },
    either: ['refund', 'ship'],
    results: ['ship tell', 'refund tell'],
  },
  'a step that fails beside another': {
    task: 'required',
    run: async (ctx, history) => {
      const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
      const charge = ctx.step('charge', () => {
        history.effect('charge')
        return pause(10)
      })
      await Promise.all([charge, ctx.step('check', failing(history, 'check'))])
    },
    results: ['Error: No money.', 'No money.'],
  },
  'a question with a time limit, answered late': {
    task: 'required',
    run: async (ctx, history) => {
      const answer = await Promise.race([
        ctx.elicit('Ship it?', z.object({ yes: z.boolean() })).then(() => 'ship'),
        ctx.sleep('limit', 60).then(() => 'cancel'),
      ])
      await ctx.step(answer, () => history.effect(answer))
      return ctx.step('tell', () => `${answer} ${history.effect('tell')}`)
    },
    events: { cancel: ['?'] },
    either: ['cancel', 'ship'],
    results: ['cancel tell'],
  },
}

export function createScenarioTool(scenario: Scenario, history: History) {
  return createTool({
    id: 'job',
    task: scenario.task,
    execute: (_input, ctx) => scenario.run(ctx, history) as Promise<string>,
  })
}

/** A task beside that of the scenario, to which nothing happens. */
export function createInnocentTool(history: History) {
  return createTool({
    id: 'innocent',
    task: 'required',
    execute: async (_input, ctx) => {
      for (const name of ['innocent one', 'innocent two']) {
        await ctx.step(name, () => history.effect(name))
        await ctx.sleep(`after ${name}`, 20)
      }
      return 'done'
    },
  })
}
