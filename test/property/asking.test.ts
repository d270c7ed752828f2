/**
 * Any tool that asks, waits and does steps, side by side and one after another: each step runs once, each question gets the
 * answer to its own text, and the call comes to its end, however the branches overtake each other from round to round.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createTool, MCPServer, type McpContext } from '../../src/index.ts'
import { answerOf, type JsonObject, modernRequest } from './_client.ts'
import { check } from './_seeded.ts'

const SECRET = 'a-secret-of-the-property-tests-long-enough'
const MAX_ROUNDS = 40
const CAN = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } }

type Op =
  | { readonly kind: 'step'; readonly turns: number }
  | { readonly kind: 'ask'; readonly message: string }
  /** Takes other times in other rounds, as a network does. */
  | { readonly kind: 'work'; readonly turns: readonly number[] }

/** Branches side by side, and what comes after all of them. */
interface Program {
  readonly branches: readonly (readonly Op[])[]
  readonly rest: readonly Op[]
}

interface Faults {
  readonly runs: Map<string, number>
  readonly values: Map<string, Set<unknown>>
  readonly wrong: string[]
}

const turns = fc.nat({ max: 3 })
const op: fc.Arbitrary<Op> = fc.oneof(
  fc.record({ kind: fc.constant('step' as const), turns }),
  fc.record({
    kind: fc.constant('ask' as const),
    message: fc.constantFrom('one?', 'two?', '__proto__'),
  }),
  fc.record({ kind: fc.constant('work' as const), turns: fc.array(turns, { minLength: 1, maxLength: 4 }) }),
)
const program: fc.Arbitrary<Program> = fc.record({
  branches: fc.array(fc.array(op, { maxLength: 5 }), { maxLength: 4 }),
  rest: fc.array(op, { maxLength: 3 }),
})

async function pass(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setTimeout(resolve, 0))
}

/** How one branch runs in one round. */
async function run(ops: readonly Op[], name: string, round: number, ctx: McpContext, faults: Faults) {
  for (const [index, one] of ops.entries()) {
    const step = `${name}.${index}`
    if (one.kind === 'work') await pass(one.turns[round % one.turns.length]!)
    else if (one.kind === 'step') {
      const value = await ctx.step(step, async () => {
        faults.runs.set(step, (faults.runs.get(step) ?? 0) + 1)
        await pass(one.turns)
        return { step, run: faults.runs.get(step) }
      })
      faults.values.set(step, (faults.values.get(step) ?? new Set()).add(JSON.stringify(value)))
    } else {
      const requestedSchema = { type: 'object' as const, properties: { said: { type: 'string' } } }
      const answer = await ctx.elicit({ message: one.message, requestedSchema })
      const said = answer.action === 'accept' ? answer.content.said : answer.action
      if (said !== `to ${one.message}`) faults.wrong.push(`${one.message} was answered ${said}`)
    }
  }
}

function serve({ branches, rest }: Program, faults: Faults): MCPServer {
  let round = 0
  const tool = createTool({
    id: 't',
    execute: async (_input, ctx) => {
      const now = round++
      await Promise.all(branches.map((ops, index) => run(ops, `branch ${index}`, now, ctx, faults)))
      await run(rest, 'rest', now, ctx, faults)
      return 'done'
    },
  })
  return new MCPServer({ id: 'p', name: 'P', version: '1', log: false, secret: SECRET, tools: { t: tool } })
}

interface Requests {
  readonly [key: string]: { readonly params: { readonly message: string } }
}

/** Answers what is asked, of several questions only the first in rounds that `forgets` names. */
async function converse(
  server: MCPServer,
  forgets: (round: number) => boolean,
): Promise<{ rounds: number; answers: number }> {
  let params: JsonObject = { name: 't' }
  let answers = 0
  for (let round = 1; round <= MAX_ROUNDS; round++) {
    const { result, error } = await answerOf(
      await server.fetch(modernRequest('tools/call', { params, meta: CAN })),
    )
    expect(error).toBeUndefined()
    if (result?.resultType !== 'input_required') {
      expect(JSON.stringify(result?.content)).toContain('done')
      return { rounds: round, answers }
    }
    const { inputRequests = {}, requestState } = result as { inputRequests?: Requests; requestState?: string }
    const asked = Object.entries(inputRequests).filter((_one, index) => index === 0 || !forgets(round))
    answers += asked.length
    const inputResponses = Object.fromEntries(
      asked.map(
        ([
          key,
          {
            params: { message },
          },
        ]) => [key, { action: 'accept', content: { said: `to ${message}` } }],
      ),
    )
    params = { name: 't', inputResponses, ...(requestState !== undefined && { requestState }) }
  }
  throw new Error('the call does not come to its end')
}

const questionsIn = ({ branches, rest }: Program): number =>
  [...branches.flat(), ...rest].filter(({ kind }) => kind === 'ask').length

test('steps run once, answers are to their own questions, and every call ends [ask.step] [ask.content]', async () => {
  await check(
    fc.asyncProperty(program, fc.boolean(), async (one, isForgetful) => {
      const faults: Faults = { runs: new Map(), values: new Map(), wrong: [] }
      const { rounds, answers } = await converse(
        serve(one, faults),
        (round) => isForgetful && round % 2 === 0,
      )
      expect(faults.wrong).toEqual([])
      expect([...faults.runs].filter(([, count]) => count !== 1)).toEqual([])
      expect([...faults.values].filter(([, values]) => values.size !== 1)).toEqual([])
      // No user is asked a question again that was answered.
      expect(answers).toBe(questionsIn(one))
      // Each round gets at least one question further.
      expect(rounds).toBeLessThanOrEqual(1 + questionsIn(one))
    }),
    150,
  )
})
