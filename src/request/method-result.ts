/**
 * The result of a method, before the protocol layer adds the envelope of its era.
 */
import type { Meta } from '../definition/content.ts'
import { type JsonMembers, toMembers } from '../definition/json-members.ts'
import type { Ending } from '../interaction/ending.ts'

/** How long a client may reuse a result, and who may share it (MCP 2026-07-28, "Caching"). */
export interface CacheHints {
  /** Milliseconds. */
  readonly ttlMs: number
  readonly scope: 'public' | 'private'
}

export interface MethodResult {
  /** The members of the result object as JSON, without the braces: `"tools":[…]`. Lists come precompiled. */
  readonly members: JsonMembers
  readonly meta?: Meta | undefined
  /** The tool failed; for the protocol this is a success. */
  readonly isError?: boolean | undefined
  /** Modern era: the kind of result, unless the call is complete: a question for the client, or a task. */
  readonly type?: 'input_required' | 'task'
}

/** A result from an object; its `_meta` is merged with the protocol's own. That of a started task says that it is one. */
export function toMethodResult(
  result: StartedTask | { readonly _meta?: Meta | undefined; readonly isError?: boolean | undefined },
): MethodResult {
  if (result instanceof StartedTask) return { ...toMethodResult(result.task), type: 'task' }
  if (result._meta === undefined)
    return { members: toMembers(result), meta: undefined, isError: result.isError }
  const { _meta, ...rest } = result
  return { members: toMembers(rest), meta: _meta, isError: result.isError }
}

/** The result that asks the client. */
export function inputRequired({
  inputRequests,
  requestState,
}: Ending & { kind: 'inputRequired' }): MethodResult {
  const members = toMembers({ inputRequests, ...(requestState !== undefined && { requestState }) })
  return { members, type: 'input_required' }
}

/** What a tool returns whose call goes on as a task of a server behind this one. */
export class StartedTask {
  /** The extension's `Task`. */
  readonly task: object

  constructor(task: object) {
    this.task = task
  }
}
