/** The context of tools that were written for mcp-use: that of any tool, with what mcp-use has besides. */
import {
  type Elicit,
  type ElicitAnswer,
  type ElicitOptions,
  type ElicitParams,
  elicitOptionsIn,
} from '../definition/ask.ts'
import type { McpContext } from '../definition/context.ts'
import type { InferOutput, Schema } from '../definition/schema.ts'
import { Context } from '../request/context.ts'
import { addMembers, type Members } from '../request/members.ts'

/** The user's answer to a form. `data` is the same as `content`. */
export type McpUseAnswer<Content> =
  | (Extract<ElicitAnswer<Content>, { action: 'accept' }> & { readonly data: Content })
  | Extract<ElicitAnswer<Content>, { action: 'decline' | 'cancel' }>

/** The signatures of `ctx.elicit`, as those of `mayfly-mcp`. */
export interface McpUseElicit {
  <S extends Schema>(
    message: string,
    schema: S,
    options?: ElicitOptions,
  ): Promise<McpUseAnswer<InferOutput<S>>>
  (
    message: string,
    url: string | URL,
    options?: ElicitOptions,
  ): Promise<{ action: 'accept' | 'decline' | 'cancel' }>
  (params: ElicitParams, options?: ElicitOptions): Promise<McpUseAnswer<Record<string, unknown>>>
}

/** What tools written for mcp-use receive, and the members of `McpContext`. */
export interface McpUseContext extends Omit<McpContext, 'elicit'> {
  readonly elicit: McpUseElicit & Elicit
  /** Whether the server keeps no state between this client's requests: true except in a session and on stdio. */
  readonly stateless: boolean
}

const MEMBERS: Members = {
  elicit() {
    return async (...[first, ...rest]: Parameters<Elicit>) => {
      const options = elicitOptionsIn(rest.at(typeof first === 'string' ? 1 : 0) as object | undefined)
      const args = (
        typeof first === 'string' ? [first, rest[0], options] : [first, options]
      ) as Parameters<Elicit>
      return withData(await Context.prototype.elicit.apply(this, args))
    }
  },
  stateless() {
    return !this.can('sessions').available
  },
}

/** Adds the members that mcp-use's tools read, except those that the context has already. */
export function extendForMcpUse(context: Context): void {
  addMembers(context, MEMBERS)
}

/** `data` is not enumerable, so JSON does not include it. */
function withData(answer: object): object {
  return 'content' in answer ? Object.defineProperty(answer, 'data', { value: answer.content }) : answer
}
