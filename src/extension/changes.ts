/** What an extension tells those who listen: members of the filter of `subscriptions/listen`. */
import { invalidParams } from '../definition/protocol-error.ts'
import { missingCapabilityError } from '../interaction/capabilities.ts'
import { EXTENSION_URI, type ExtensionParts } from '../request/extension.ts'
import { checkNotificationName } from './names.ts'

/** The members that MCP itself has, and those of its other extensions. */
const RESERVED = [
  'toolsListChanged',
  'promptsListChanged',
  'resourcesListChanged',
  'resourceSubscriptions',
  'taskIds',
]

/** @throws TypeError for a name that is reserved for MCP. */
export function createChanges(
  id: string,
  changes: { readonly [name: string]: string },
  declaration: 'required' | 'optional',
): Pick<ExtensionParts, 'listen' | 'translate'> {
  const names = Object.keys(changes)
  for (const name of names) {
    if (RESERVED.includes(name) || !/^[a-zA-Z]\w*$/.test(name))
      throw new TypeError(`Extension "${id}" cannot have "${name}" in "changes": it is reserved for MCP.`)
    checkNotificationName(id, changes[name])
  }
  if (names.length === 0) return {}
  const prefix = `${EXTENSION_URI}${id}:`
  return {
    async listen(filter, { clientCapabilities, hasBus }) {
      const sent = filter as { readonly [name: string]: unknown }
      const wrong = names.find((name) => sent[name] !== undefined && typeof sent[name] !== 'boolean')
      if (wrong !== undefined) throw invalidParams(`"notifications.${wrong}" must be a boolean.`)
      const wanted = names.filter((name) => sent[name] === true)
      if (wanted.length === 0) return undefined
      if (declaration === 'required' && clientCapabilities.extensions?.[id] === undefined)
        throw missingCapabilityError({ extensions: { [id]: {} } })
      if (!hasBus) return undefined
      return {
        filter: Object.fromEntries(wanted.map((name) => [name, true])),
        uris: wanted.map((name) => prefix + name),
      }
    },
    translate(changed) {
      if (typeof changed !== 'string' || !changed.startsWith(prefix)) return undefined
      const name = changed.slice(prefix.length)
      return Object.hasOwn(changes, name)
        ? Promise.resolve({ method: changes[name]!, params: {} })
        : undefined
    },
  }
}
