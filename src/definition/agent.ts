/**
 * Agents and workflows of agent frameworks, as tools. Both are structural types, without a dependency on a framework.
 */

import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import { type CallToolResult, errorResult } from './content.ts'
import type { McpContext } from './context.ts'
import { memberOf } from './error-text.ts'
import { present } from './present.ts'
import type { AnyTool } from './tool.ts'
import { isGuarding, refuseUnknown } from './unknown-option.ts'

/** Anything that answers a message. Its description must not be empty: models choose tools by it. */
export interface AgentLike {
  name?: string | undefined
  description?: string | undefined
  getDescription?(): string
  /** The scopes that the caller's token must have, if the server has `auth`. Default: none. */
  scopes?: readonly string[] | undefined
  generate(message: string, options?: Record<string, unknown>): Promise<unknown>
}

interface WorkflowRun {
  start(args: Record<string, unknown>): Promise<unknown>
  /** Called when the call is aborted. */
  cancel?(): unknown
}

/** Anything that computes a result from `inputData`. */
export interface WorkflowLike {
  id?: string | undefined
  description?: string | undefined
  inputSchema?: unknown
  /** As for an agent. */
  scopes?: readonly string[] | undefined
  createRun?(): WorkflowRun | Promise<WorkflowRun>
  createRunAsync?(): Promise<WorkflowRun>
}

/** `{ message: string }`, as a Standard Schema that needs no library. */
const MESSAGE: StandardSchemaV1 & { '~standard': StandardJSONSchemaV1.Props } = {
  '~standard': {
    version: 1,
    vendor: 'mayfly-mcp',
    jsonSchema: { input: messageSchema, output: messageSchema },
    validate: (value) =>
      typeof (value as { message?: unknown } | null)?.message === 'string'
        ? { value }
        : { issues: [{ path: ['message'], message: 'expected a string' }] },
  },
}

function messageSchema(): Record<string, unknown> {
  return {
    type: 'object',
    properties: { message: { type: 'string', description: 'The question or input for the agent.' } },
    required: ['message'],
  }
}

interface Guarded {
  readonly scopes?: readonly string[] | undefined
}

/**
 * The other members are the framework's; one that seems to keep callers out would guard nothing. In an object that the user wrote, more
 * names are that than in an instance of a framework's class.
 *
 * @throws TypeError naming the member.
 */
function guardOf(what: string, item: Guarded): { scopes?: readonly string[] } {
  const { scopes } = item
  const prototype: unknown = Object.getPrototypeOf(item)
  const isWritten = prototype === Object.prototype || prototype === null
  const misspelt = Object.entries(item).find(
    ([name, value]) =>
      name !== 'scopes' &&
      (/scope|^permissions$/i.test(name) || (isWritten && name !== 'role' && isGuarding(name, value))),
  )
  refuseUnknown(what, { scopes, ...(misspelt !== undefined && { [misspelt[0]]: 1 }) }, { scopes: 'strings' })
  return present({ scopes })
}

/**
 * Converts an agent to the tool `ask_<key>`.
 *
 * @throws TypeError if its description is empty, and for scopes that are not a list of strings.
 */
export function agentTool(key: string, agent: AgentLike): AnyTool {
  if (typeof agent?.generate !== 'function') throw new TypeError(`Agent "${key}" has no generate function.`)
  const description = agent.getDescription?.() || agent.description
  if (!description) {
    throw new TypeError(
      `Agent "${key}" has an empty description: models choose tools by their description, so give it one.`,
    )
  }
  return {
    id: `ask_${key}`,
    description: `Ask agent '${agent.name ?? key}' a question. Agent description: ${description}`,
    inputSchema: MESSAGE,
    ...guardOf(`Agent "${key}"`, agent),
    execute: async ({ message }: { message: string }, context: McpContext) => {
      const { signal: abortSignal, requestContext } = context
      const answer = await agent.generate(message, { abortSignal, requestContext })
      const text = (answer as { text?: unknown } | null | undefined)?.text
      return typeof text === 'string' ? text : answer
    },
  }
}

/**
 * Converts a workflow to the tool `run_<key>`.
 *
 * @throws TypeError if its description is empty or it cannot create a run, and for scopes that are not a list of strings.
 */
export function workflowTool(key: string, workflow: WorkflowLike): AnyTool {
  if (!workflow?.description) {
    throw new TypeError(
      `Workflow "${key}" has an empty description: models choose tools by their description, so give it one.`,
    )
  }
  if (workflow.createRunAsync === undefined && workflow.createRun === undefined) {
    throw new TypeError(`Workflow "${key}" has neither createRun nor createRunAsync.`)
  }
  return {
    id: `run_${key}`,
    description: `Run workflow '${workflow.id ?? key}'. Workflow description: ${workflow.description}`,
    ...(workflow.inputSchema !== undefined && { inputSchema: workflow.inputSchema }),
    ...guardOf(`Workflow "${key}"`, workflow),
    execute: async (inputData: unknown, context: McpContext) => {
      const run = await (workflow.createRunAsync?.() ?? workflow.createRun!())
      const cancel = async (): Promise<unknown> => run.cancel?.()
      context.signal.addEventListener('abort', () => context.waitUntil(cancel()), { once: true })
      const { signal: abortSignal, requestContext } = context
      return toWorkflowResult(key, await run.start({ inputData, abortSignal, requestContext }))
    },
  }
}

/** A run returns `{ status, result, error }`; the model receives the result, or why there is none. */
function toWorkflowResult(key: string, outcome: unknown): unknown | CallToolResult {
  const { status, result, error } = (outcome ?? {}) as { status?: unknown; result?: unknown; error?: unknown }
  if (status === undefined || status === 'success') return status === undefined ? outcome : result
  // Run results are serializable, so an error may be a plain object.
  const named = memberOf(error, 'message')
  const reason = typeof named === 'string' ? named : typeof error === 'string' ? error : undefined
  return errorResult(
    `Workflow "${key}" ended with status ${String(status)}${reason === undefined ? '.' : `: ${reason}`}`,
  )
}
