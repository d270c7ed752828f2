/**
 * What the landing page shows of a server: its declared tools, prompts and resources. Items from callbacks or `setup` depend on the caller,
 * so they are not shown.
 */
import type { Definition } from '../definition/compile.ts'
import type { JsonSchema } from '../definition/schema.ts'
import { LEGACY_VERSIONS, MODERN_VERSIONS } from '../protocol/versions.ts'
import { type Access, type Guarded, hidesNames } from '../request/access.ts'
import type { PageModel } from './page.ts'

type Parameter = PageModel['tools'][number]['parameters'][number]

/** `access`: what is open to everyone, if not everything is. */
export function toPageModel(definition: Definition, endpoint: string, access?: Access): PageModel {
  const { name, title, version, description, websiteUrl, icons } = definition.serverInfo
  const { tools, prompts, resources, instructions } = definition
  const isOpen = (item: Guarded): boolean => access?.allows(item) ?? true
  return {
    name,
    version,
    endpoint,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(instructions !== undefined && !hidesNames(access, definition.hasScopes) && { instructions }),
    ...(websiteUrl !== undefined && { websiteUrl }),
    ...(icons?.[0] !== undefined && { icon: icons[0].src }),
    tools: [...tools.values()]
      .filter(({ source }) => source.enabled !== false)
      .filter(({ name, source: { scopes } }) => isOpen({ kind: 'tool', name, scopes }))
      .map(({ tool }) => ({
        name: tool.name,
        ...(tool.title !== undefined && { title: tool.title }),
        ...(tool.description !== undefined && { description: tool.description }),
        readOnly: tool.annotations?.readOnlyHint === true,
        destructive: tool.annotations?.destructiveHint === true,
        parameters: parametersOf(tool.inputSchema),
      })),
    prompts: [...prompts.declared.values()]
      .filter(({ name, config: { scopes } }) => isOpen({ kind: 'prompt', name, scopes }))
      .map(({ prompt }) => ({ ...prompt, arguments: prompt.arguments ?? [] })),
    resources: [...resources.fixed.values()]
      .filter(({ config: { uri: name, scopes } }) => isOpen({ kind: 'resource', name, scopes }))
      .map(({ resource }) => resource),
    resourceTemplates: resources.templates
      .filter(({ config: { uriTemplate: name, scopes } }) => isOpen({ kind: 'resource', name, scopes }))
      .map(({ resourceTemplate }) => resourceTemplate),
    protocolVersions: [...MODERN_VERSIONS, ...LEGACY_VERSIONS],
  }
}

/** Schemas are not validated: they may come from a user's library or from a server behind this one. Therefore each part is checked. */
export function parametersOf({ properties, required }: JsonSchema): Parameter[] {
  const names = Array.isArray(required) ? required : []
  return Object.entries((properties ?? {}) as Record<string, unknown>).map(([name, schema]) => {
    const { type, description } = (schema ?? {}) as { type?: unknown; description?: unknown }
    const types = [type].flat().filter((one) => typeof one === 'string')
    return {
      name,
      type: types.length > 0 ? types.join(' or ') : 'any',
      required: names.includes(name),
      ...(typeof description === 'string' && { description }),
    }
  })
}
