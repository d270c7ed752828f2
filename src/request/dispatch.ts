/** Maps methods to their implementations, per era. A method does not exist if the definition has nothing for it. */
import type { Definition } from '../definition/compile.ts'
import type { Era } from '../definition/context.ts'
import { NO_MEMBERS } from '../definition/json-members.ts'
import { type LoadPart, withPart } from '../definition/part.ts'
import type { RequestOptions } from './extension.ts'
import type { HeaderCheck } from './header-check.ts'
import { loadPrompts, loadResources, loadToolList } from './load-methods.ts'
import type { MethodResult } from './method-result.ts'
import { type Params, stringParam } from './params.ts'
import type { RequestScope } from './request-server.ts'
import { callTool } from './tools.ts'

export type Method = (
  scope: RequestScope,
  params: Params,
  options: RequestOptions,
  headers?: HeaderCheck,
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

/** Runs the method of that name, which is loaded at its first use. */
function later<Name extends string>(
  load: LoadPart<Readonly<Record<Name, Method>>>,
  name: Name,
  given: Parameters<Method>,
): ReturnType<Method> {
  return withPart(load, (methods) => methods[name](...given))
}

const METHODS: ReadonlyMap<string, MethodEntry> = new Map(
  Object.entries({
    'tools/call': { run: callTool, needs: 'hasTools', eras: BOTH },
    'tools/list': {
      run: (...given) => later(loadToolList, 'listTools', given),
      needs: 'hasTools',
      eras: BOTH,
      caching: 'list',
    },
    'resources/list': {
      run: (...given) => later(loadResources, 'listResources', given),
      needs: 'hasResources',
      eras: BOTH,
      caching: 'list',
    },
    'resources/templates/list': {
      run: (...given) => later(loadResources, 'listResourceTemplates', given),
      needs: 'hasResources',
      eras: BOTH,
      caching: 'list',
    },
    'resources/read': {
      run: (...given) => later(loadResources, 'readResource', given),
      needs: 'hasResources',
      eras: BOTH,
      caching: 'private',
    },
    'resources/subscribe': { run: acknowledge, needs: 'hasResources', eras: LEGACY },
    'resources/unsubscribe': { run: acknowledge, needs: 'hasResources', eras: LEGACY },
    'prompts/list': {
      run: (...given) => later(loadPrompts, 'listPrompts', given),
      needs: 'hasPrompts',
      eras: BOTH,
      caching: 'list',
    },
    'prompts/get': {
      run: (...given) => later(loadPrompts, 'getPrompt', given),
      needs: 'hasPrompts',
      eras: BOTH,
    },
    'completion/complete': {
      run: (...given) => later(loadPrompts, 'complete', given),
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
