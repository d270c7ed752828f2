/**
 * `completion/complete`.
 */
import { type Completers, complete as runCompleter } from '../definition/completion.ts'
import { invalidParams } from '../definition/protocol-error.ts'
import { guardedBy } from './access.ts'
import { type MethodResult, toMethodResult } from './method-result.ts'
import { objectParam, optionalObjectParam, type Params, stringParam, stringRecordParam } from './params.ts'
import type { RequestScope } from './request-server.ts'

/** @throws ProtocolError `-32602` for an unknown prompt or template, or for an argument that it does not have. */
export async function complete(scope: RequestScope, params: Params): Promise<MethodResult> {
  const ref = objectParam(params, 'ref')
  const argument = objectParam(params, 'argument')
  const name = stringParam(argument, 'name')
  const value = stringParam(argument, 'value')
  const known = stringRecordParam(optionalObjectParam(params, 'context'), 'arguments')
  const completers = completersOf(scope, ref)
  return toMethodResult((await runCompleter(completers, { name, value }, known, scope.context)) as object)
}

function completersOf(scope: RequestScope, ref: Params): Completers | undefined {
  const { prompts, resources } = scope.definition
  if (ref.type === 'ref/prompt') {
    const name = stringParam(ref, 'name')
    const declared = prompts.declared.get(name)
    scope.requireAccess({ kind: 'prompt', name, scopes: declared?.config.scopes })
    if (declared !== undefined) return declared.config.complete
    if (prompts.callbacks === undefined) {
      scope.requireKnown('prompt', name)
      throw invalidParams(`Unknown prompt: ${name}`)
    }
    const byPrompt = prompts.callbacks.complete
    return byPrompt !== undefined && Object.hasOwn(byPrompt, name) ? byPrompt[name] : undefined
  }
  if (ref.type === 'ref/resource') {
    const uri = stringParam(ref, 'uri')
    const template = resources.templates.find((one) => one.resourceTemplate.uriTemplate === uri)
    if (template === undefined && resources.callbacks === undefined && !resources.fixed.has(uri)) {
      scope.requireKnown('resource', uri)
      throw invalidParams(`Unknown resource template: ${uri}`)
    }
    scope.requireAccess(guardedBy(uri, template?.config ?? resources.fixed.get(uri)?.config))
    return template?.config.complete
  }
  throw invalidParams('Invalid params: "ref.type" must be "ref/prompt" or "ref/resource".')
}
