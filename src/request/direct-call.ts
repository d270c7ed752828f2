/**
 * Runs a tool without a request, for `server.executeTool` and the `execute` of a `createTool` tool.
 */

import type { CompiledTool } from '../definition/compiled-tool.ts'
import type { CallToolResult } from '../definition/content.ts'
import type { AuthInfo, Env } from '../definition/context.ts'
import { isInputRequired } from '../definition/input-required.ts'
import { printError } from '../definition/print-error.ts'
import { describeIssues } from '../definition/schema.ts'
import type { TaskContext } from '../definition/task-option.ts'
import type { Interaction } from '../interaction/interaction.ts'
import { EMPTY_JOURNAL } from '../interaction/journal.ts'
import type { Asking } from '../interaction/load-asking.ts'
import type { Conditions } from '../interaction/matrix.ts'
import { Context } from './context.ts'
import type { ReportError } from './options.ts'
import { TaskNeededError } from './taskless.ts'
import { tellHooks } from './tell-hooks.ts'

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
  throw new Error('This tool asks its user a question, which needs a client: call it over MCP.')
}

/** Without a client, questions fail, and steps run as usual. */
function createSteps({ Replay }: Asking, signal: () => AbortSignal): Interaction {
  const ignore = () => {}
  const replay = new Replay({
    journal: EMPTY_JOURNAL,
    responses: {},
    signal,
    onSuspend: ignore,
    onStuck: ignore,
  })
  return {
    ask: refuse,
    askReturned: refuse,
    step: (name, fn, options) => replay.step(name, fn, options),
    isSuspended: () => false,
    mustRemember: () => false,
    close: () => replay.close(),
  }
}

/** The context of a tool that is called without a request. Each member replaces the context's own. */
export interface ToolCallContext {
  env?: unknown
  auth?: AuthInfo | undefined
  /** Aborts `ctx.signal`; the tool decides how to react. If it is already aborted, the tool does not run. */
  signal?: AbortSignal | undefined
  /** `signal`, under the name that agents of other frameworks use. If both are given, the one that aborts first takes effect. */
  abortSignal?: AbortSignal | undefined
  /** A `Map`, a `RequestContext` of Mastra, or any other object with `get(key)`. */
  requestContext?: { get(key: string): unknown } | undefined
  /** `ctx.sleep` of a tool with `task`. Without a task, the default rejects with a `TaskNeededError`. */
  sleep?: TaskContext['sleep'] | undefined
  /** The same for `ctx.waitFor`. */
  waitFor?: ((name: string, options?: { readonly timeoutMs?: number }) => Promise<unknown>) | undefined
}

/**
 * Runs a tool and returns its output. The context of a request is used unchanged.
 *
 * @throws Error for invalid arguments, for a result that does not match `outputSchema`, and any error of the tool.
 */
export async function executeCompiled(
  tool: CompiledTool,
  input: unknown,
  given: ToolCallContext = {},
  reportError: ReportError = printError,
  extend?: (context: Context) => void,
): Promise<unknown> {
  const { name, source } = tool
  const validation = await tool.input.validate(input ?? {})
  if (!validation.ok)
    throw new Error(`Invalid arguments for tool ${name}: ${describeIssues(validation.issues)}`)
  const isOurs = given instanceof Context
  const context = isOurs ? given : createContext(name, given, reportError)
  if (source.task !== undefined) refuseWaits(context)
  extend?.(context)
  const signal = isOurs ? undefined : joined(given.signal, given.abortSignal)
  signal?.throwIfAborted()
  const end = (): void => context.abort(() => signal?.reason)
  signal?.addEventListener('abort', end, { once: true })
  try {
    tellHooks(tool, { input: validation.value }, context, reportError)
    const output: unknown = await source.execute!(validation.value, context)
    if (isInputRequired(output)) return isOurs ? output : await context.askReturned(output)
    const result = source.outputSchema === undefined ? output : await tool.toResult(output, 'modern')
    if (!isError(result)) tellHooks(tool, { output }, context, reportError)
    else if (!isError(output))
      throw new Error(result.content.map((block) => 'text' in block && block.text).join())
    return output
  } finally {
    // Removes the listener, since one signal may be used for many calls.
    signal?.removeEventListener('abort', end)
  }
}

/** Without a task, nothing could wake the tool. A caller may have passed its own. */
function refuseWaits(context: Context): void {
  for (const name of ['sleep', 'waitFor']) {
    if (name in context) continue
    const value = async (): Promise<never> => {
      throw new TaskNeededError(`ctx.${name}`)
    }
    Object.defineProperty(context, name, { value, configurable: true })
  }
}

function joined(one?: AbortSignal, other?: AbortSignal): AbortSignal | undefined {
  return one && other ? AbortSignal.any([one, other]) : (one ?? other)
}

function isError(output: unknown): output is CallToolResult {
  return (output as { isError?: unknown } | null | undefined)?.isError === true
}

function createContext(name: string, given: ToolCallContext, reportError: ReportError): Context {
  const requestId = crypto.randomUUID()
  const context: Context = new Context(
    {
      requestId,
      era: 'modern',
      protocolVersion: '2026-07-28',
      clientCapabilities: {},
      auth: undefined,
      env: {} as Env,
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
      interaction: (asking) => createSteps(asking, () => context.signal),
      begin: (_control, asking) => createSteps(asking, () => context.signal),
      endsAt: () => undefined,
      caller: () => undefined,
    },
  )
  for (const [member, value] of Object.entries(given)) {
    if (value === undefined || /^(abortS|s)ignal$/.test(member)) continue
    Object.defineProperty(context, member, { value, enumerable: true, configurable: true })
  }
  return context
}
