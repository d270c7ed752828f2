/** `tools/list`. */
import type { CompiledTool } from '../definition/compiled-tool.ts'
import type { Era } from '../definition/context.ts'
import type { JsonMembers } from '../definition/json-members.ts'
import { CONTINUE } from '../interaction/continuation.ts'
import type { RequestOptions } from './extension.ts'
import type { MethodResult } from './method-result.ts'
import { pageMembers, pageStart } from './pagination.ts'
import type { Params } from './params.ts'
import type { RequestScope } from './request-server.ts'

/** The complete, unpaged list of a definition, serialized once per era. */
const compiledLists = new WeakMap<object, { modern: JsonMembers; legacy: JsonMembers }>()

export function listTools(scope: RequestScope, params: Params, options: RequestOptions): MethodResult {
  const { era } = scope.context
  const { tools } = scope.definition
  const isHidden = (tool: CompiledTool): boolean => options.extensions?.hides(tool, scope.context) === true
  const isWholeList =
    !scope.isCustomised &&
    !scope.isRestricted &&
    params.cursor === undefined &&
    tools.size <= options.pageSize &&
    !(options.extensions?.hidesTools && [...tools.values()].some(isHidden))
  if (isWholeList) return { members: wholeList(scope, options)[era] }
  const visible = scope.visibleTools().filter((tool) => !isHidden(tool))
  const items = visible.map((tool) => listed(tool, era, options))
  const start = pageStart(params, items.length, options.pageSize)
  return { members: pageMembers('tools', items, start, options.pageSize) }
}

function wholeList(
  scope: RequestScope,
  options: RequestOptions,
): { modern: JsonMembers; legacy: JsonMembers } {
  let list = compiledLists.get(scope.definition)
  if (list === undefined) {
    const tools = scope.visibleTools()
    const members = (era: Era) =>
      pageMembers(
        'tools',
        tools.map((tool) => listed(tool, era, options)),
        0,
        tools.length + 1,
      )
    list = { modern: members('modern'), legacy: members('legacy') }
    compiledLists.set(scope.definition, list)
  }
  return list
}

function listed({ tool, json }: CompiledTool, era: Era, { asking }: RequestOptions): string {
  if (era === 'modern' || asking.legacyPolicy !== 'arguments') return json[era]
  const { properties, ...inputSchema } = tool.inputSchema
  return JSON.stringify({
    ...(JSON.parse(json.legacy) as object),
    inputSchema: {
      ...inputSchema,
      properties: { ...(properties as object | undefined), ...CONTINUE_SCHEMA },
    },
  })
}

/** The argument with which a model continues a call, under the legacy policy `arguments`. */
const CONTINUE_SCHEMA = {
  [CONTINUE]: {
    type: 'object',
    description: "Set only when a previous result says so: the user's answers.",
    properties: { token: { type: 'string' }, answers: { type: 'object' } },
    required: ['token', 'answers'],
  },
}
