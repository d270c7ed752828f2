/**
 * Running a tool without a request: `server.executeTool`.
 */
import type { Definition } from '../definition/compile.ts'
import type { AuthInfo, Env } from '../definition/context.ts'
import { describeIssues } from '../definition/schema.ts'
import { isInputRequired } from '../definition/sdk-context.ts'
import type { Interaction } from '../interaction/interaction.ts'
import { EMPTY_JOURNAL } from '../interaction/journal.ts'
import type { Conditions } from '../interaction/matrix.ts'
import { Replay } from '../interaction/replay.ts'
import { Context } from './context.ts'
import type { ReportError } from './options.ts'

const OUTSIDE: Conditions = {
  era: 'modern',
  hasBus: false,
  canStream: false,
  clientCapabilities: {},
  protocolVersion: '2026-07-28',
  hasSecret: false,
  hasRendezvous: false,
  hasSession: false,
  legacyPolicy: 'explain',
}

const refuse = async (): Promise<never> => {
  throw new Error('This tool asks its user, and executeTool has none: call it through a client.')
}

/** There is no client to ask; steps are as in any call. */
function createSteps(signal: () => AbortSignal): Interaction {
  const unasked = () => {}
  const replay = new Replay({
    journal: EMPTY_JOURNAL,
    responses: {},
    signal,
    onSuspend: unasked,
    onStuck: unasked,
  })
  return {
    ask: refuse,
    askReturned: refuse,
    step: (name, fn) => replay.step(name, fn),
    close: () => replay.close(),
  }
}

/** @throws Error for an unknown tool or invalid arguments, and whatever the tool throws. */
export async function executeDirectly(
  definition: Definition,
  name: string,
  input: unknown,
  { env, auth, signal }: { env?: unknown; auth?: AuthInfo; signal?: AbortSignal },
  reportError: ReportError,
): Promise<unknown> {
  const tool = definition.tools.get(name)
  if (tool === undefined) throw new Error(`Unknown tool: ${name}`)
  const validation = await tool.input.validate(input ?? {})
  if (!validation.ok)
    throw new Error(`Invalid arguments for tool ${name}: ${describeIssues(validation.issues)}`)
  const requestId = crypto.randomUUID()
  const context: Context = new Context(
    {
      requestId,
      era: 'modern',
      protocolVersion: '2026-07-28',
      clientCapabilities: {},
      auth,
      env: (env ?? {}) as Env,
      waitUntil: (promise) =>
        void Promise.resolve(promise).catch((error: unknown) => reportError(error, { tool: name })),
    },
    {
      rpcId: requestId,
      method: 'tools/call',
      meta: undefined,
      progressToken: undefined,
      logLevel: undefined,
      conditions: () => OUTSIDE,
      send: () => undefined,
      publish: async () => {},
      rounds: undefined,
      interaction: () => createSteps(() => context.signal),
    },
  )
  const end = (): void => context.abort(() => signal?.reason)
  if (signal?.aborted) end()
  signal?.addEventListener('abort', end, { once: true })
  try {
    const output: unknown = await tool.source.execute!(validation.value, context)
    return isInputRequired(output) ? await context.askReturned(output) : output
  } finally {
    // A signal may outlive many calls.
    signal?.removeEventListener('abort', end)
  }
}
