/** Which scopes a caller needs to read a URI, however it is spelled. */
import type { CompiledResources, ResourceConfig } from '../definition/resource.ts'
import { foldUri, MARK, spellingsOf, withoutQuery } from '../definition/uri.ts'
import { compileUriPattern, type UriPattern } from '../definition/uri-pattern.ts'
import type { UriTemplate } from '../definition/uri-template.ts'
import { type Guarded, guardedBy } from './access.ts'

/** What serves a URI. */
export interface Found {
  /** Undefined if the resource callbacks answer. */
  readonly config?: ResourceConfig
  readonly variables: Record<string, string>
  /** That of the config, if it has one. */
  readonly template?: UriTemplate
}

/** The guards of the resources by the canonical form of their URIs. */
interface Guards {
  /** Of all fixed resources and templates. */
  readonly all: readonly Guarded[]
  readonly fixed: ReadonlyMap<string, readonly Guarded[]>
  /** In the order in which they are tried; none if no template has scopes. */
  readonly templates: readonly { readonly pattern: UriPattern | undefined; readonly item: Guarded }[]
}

const compiledGuards = new WeakMap<CompiledResources, Guards>()

/** More resources are not looked at before the URI is compared with them. */
const MAX_LOOKED_AT = 200

/**
 * The access needed to read a URI: to the resource that serves it, to every fixed resource that it may be another spelling of, and to the
 * template that would serve that spelling. Otherwise a template could read what another resource protects. The URI is compared only if the
 * caller may use what serves it, and may not use everything.
 */
export function* guardsOf(
  resources: CompiledResources,
  uri: string,
  { config, template }: Found,
  allows: (item: Guarded) => boolean,
): Generator<Guarded> {
  if (config !== undefined && 'uri' in config) return yield guardedBy(uri, config)
  yield guardedBy(config?.uriTemplate ?? uri, config)
  const { all, fixed, templates } = guardsFor(resources)
  if (all.length <= MAX_LOOKED_AT && all.every(allows)) return
  const forms = template ? spellingsOf(template.withMarks(uri, MARK), true) : spellingsOf(uri)
  if (forms === undefined) return yield* all
  for (const form of forms) {
    const bare = withoutQuery(form)
    yield* fixed.get(form) ?? []
    yield* fixed.get(bare) ?? []
    const serving = templates.find(({ pattern }) => pattern?.covers(form, bare) !== false)
    if (serving !== undefined) yield serving.item
  }
}

function guardsFor(resources: CompiledResources): Guards {
  const known = compiledGuards.get(resources)
  if (known !== undefined) return known
  const fixed = new Map<string, readonly Guarded[]>()
  for (const { config } of resources.fixed.values()) {
    const key = foldUri(config.uri)
    // No other spelling of it is found.
    if (key === undefined) continue
    fixed.set(key, [...(fixed.get(key) ?? []), guardedBy(config.uri, config)])
  }
  const configs = resources.templates.map(({ config }) => config)
  const templates = configs.some(({ scopes }) => scopes !== undefined)
    ? configs.map((config) => ({
        pattern: compileUriPattern(config.uriTemplate),
        item: guardedBy(config.uriTemplate, config),
      }))
    : []
  const all = [...[...fixed.values()].flat(), ...templates.map(({ item }) => item)]
  const guards = { all, fixed, templates }
  compiledGuards.set(resources, guards)
  return guards
}
