/** Maps methods to their implementations, per era. A method does not exist if the definition has nothing for it. */
import type { Definition } from '../definition/compile.ts'
import type { Era } from '../definition/context.ts'
import { NO_MEMBERS } from '../definition/json-members.ts'
import { withPart } from '../definition/part.ts'
import { loadPrompts, loadResources } from './load-methods.ts'
import type { MethodResult } from './method-result.ts'
import { type Params, stringParam } from './params.ts'
import type { RequestScope } from './request-server.ts'
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

/** Acknowledges subscriptions although `subscribe` is not advertised (see the degradation matrix). No updates follow. */
const acknowledge: Method = (_scope, params) => {
  stringParam(params, 'uri')
  return { members: NO_MEMBERS }
}

const BOTH: readonly Era[] = ['modern', 'legacy']
const LEGACY: readonly Era[] = ['legacy']

const METHODS: ReadonlyMap<string, MethodEntry> = new Map(
  Object.entries({
    'tools/call': { run: callTool, needs: 'hasTools', eras: BOTH },
    'tools/list': { run: listTools, needs: 'hasTools', eras: BOTH, caching: 'list' },
    'resources/list': {
      run: (...given) => withPart(loadResources, ({ listResources }) => listResources(...given)),
      needs: 'hasResources',
      eras: BOTH,
      caching: 'list',
    },
    'resources/templates/list': {
      run: (...given) =>
        withPart(loadResources, ({ listResourceTemplates }) => listResourceTemplates(...given)),
      needs: 'hasResources',
      eras: BOTH,
      caching: 'list',
    },
    'resources/read': {
      run: (scope, params) => withPart(loadResources, ({ readResource }) => readResource(scope, params)),
      needs: 'hasResources',
      eras: BOTH,
      caching: 'private',
    },
    'resources/subscribe': { run: acknowledge, needs: 'hasResources', eras: LEGACY },
    'resources/unsubscribe': { run: acknowledge, needs: 'hasResources', eras: LEGACY },
    'prompts/list': {
      run: (...given) => withPart(loadPrompts, ({ listPrompts }) => listPrompts(...given)),
      needs: 'hasPrompts',
      eras: BOTH,
      caching: 'list',
    },
    'prompts/get': {
      run: (scope, params) => withPart(loadPrompts, ({ getPrompt }) => getPrompt(scope, params)),
      needs: 'hasPrompts',
      eras: BOTH,
    },
    'completion/complete': {
      run: (scope, params) => withPart(loadPrompts, ({ complete }) => complete(scope, params)),
      needs: 'hasCompletions',
      eras: BOTH,
    },
  } satisfies Record<string, MethodEntry>),
)

/** The method, if this server has it in this era. */
export function findMethod(name: string, era: Era, definition: Definition): MethodEntry | undefined {
  const entry = METHODS.get(name)
  return entry?.eras.includes(era) && definition[entry.needs] ? entry : undefined
}
