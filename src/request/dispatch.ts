/** Maps methods to their implementations, per era. A method does not exist if the definition has nothing for it. */
import type { Definition } from '../definition/compile.ts'
import type { Era } from '../definition/context.ts'
import { complete } from './complete.ts'
import type { MethodResult } from './method-result.ts'
import type { Params } from './params.ts'
import { getPrompt, listPrompts } from './prompts.ts'
import type { RequestScope } from './request-server.ts'
import { acknowledgeSubscription, listResources, listResourceTemplates, readResource } from './resources.ts'
import type { RequestOptions } from './task-support.ts'
import { callTool, listTools } from './tools.ts'

export type Method = (
  scope: RequestScope,
  params: Params,
  options: RequestOptions,
) => MethodResult | Promise<MethodResult>

interface MethodEntry {
  readonly run: Method
  readonly needs: 'hasTools' | 'hasResources' | 'hasPrompts' | 'hasCompletions'
  readonly eras: readonly Era[]
  /** `list`: shared by all callers unless it depends on the caller. `private`: depends on the caller. */
  readonly caching?: 'list' | 'private'
}

const BOTH: readonly Era[] = ['modern', 'legacy']
const LEGACY: readonly Era[] = ['legacy']

const METHODS: ReadonlyMap<string, MethodEntry> = new Map(
  Object.entries({
    'tools/call': { run: callTool, needs: 'hasTools', eras: BOTH },
    'tools/list': { run: listTools, needs: 'hasTools', eras: BOTH, caching: 'list' },
    'resources/list': { run: listResources, needs: 'hasResources', eras: BOTH, caching: 'list' },
    'resources/templates/list': {
      run: listResourceTemplates,
      needs: 'hasResources',
      eras: BOTH,
      caching: 'list',
    },
    'resources/read': { run: readResource, needs: 'hasResources', eras: BOTH, caching: 'private' },
    'resources/subscribe': {
      run: (_scope, params) => acknowledgeSubscription(params),
      needs: 'hasResources',
      eras: LEGACY,
    },
    'resources/unsubscribe': {
      run: (_scope, params) => acknowledgeSubscription(params),
      needs: 'hasResources',
      eras: LEGACY,
    },
    'prompts/list': { run: listPrompts, needs: 'hasPrompts', eras: BOTH, caching: 'list' },
    'prompts/get': { run: getPrompt, needs: 'hasPrompts', eras: BOTH },
    'completion/complete': { run: complete, needs: 'hasCompletions', eras: BOTH },
  } satisfies Record<string, MethodEntry>),
)

/** The method, if this server has it in this era. */
export function findMethod(name: string, era: Era, definition: Definition): MethodEntry | undefined {
  const entry = METHODS.get(name)
  return entry?.eras.includes(era) && definition[entry.needs] ? entry : undefined
}
