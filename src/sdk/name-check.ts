/**
 * Warns of names in `scopes` and `anonymous` that the first server of an SDK does not have. Only a warning, since a factory may create
 * other tools for other callers.
 */
import type { Auth } from '../auth/auth.ts'
import { missing } from '../auth/open-names.ts'
import { warn } from '../definition/json-line.ts'
import type { GuardedNames } from './guarded.ts'

/** Creates a function that checks the first server it is called with. Only the `McpServer` of the SDKs knows its names. */
export function createNameCheck(scopes: GuardedNames = {}, auth: Auth | undefined): (server: object) => void {
  let isChecked = false
  return (server) => {
    const { _registeredTools, _registeredPrompts } = server as { [member: string]: unknown }
    if (isChecked || _registeredTools === undefined) return
    isChecked = true
    const tools = Object.keys(_registeredTools ?? {})
    const prompts = Object.keys(_registeredPrompts ?? {})
    for (const [kind, known] of [['tools', tools] as const, ['prompts', prompts] as const])
      for (const name of Object.keys(scopes[kind] ?? {}))
        if (!known.includes(name)) warn(missing('scopes', kind, name, known))
    auth?.checkNames?.({ tools: new Map(tools.map((name) => [name, name])) }, warn)
  }
}
