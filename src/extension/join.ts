/** The extensions of one server as one: what the server asks all of them. */
import type {
  Extension,
  ExtensionFacts,
  ExtensionParts,
  Extensions,
  ListenedTo,
} from '../request/extension.ts'

/** @throws TypeError for two extensions with the same identifier, the same name or the same method. */
export function joinExtensions(all: readonly Extension[]): Extensions {
  const parts = all.map((one) => one.parts)
  refuseTwice(all)
  /** The first answer. */
  const first =
    <Given extends readonly unknown[], Answer>(
      select: (one: ExtensionParts) => ((...given: Given) => Answer | undefined) | undefined,
    ) =>
    (...given: Given): Answer | undefined => {
      for (const one of parts) {
        const answer = select(one)?.(...given)
        if (answer !== undefined) return answer
      }
      return undefined
    }
  return {
    hasScopes: parts.some(({ methods }) => [...methods.values()].some(({ scopes }) => scopes?.length)),
    attach(host) {
      for (const whole of all) {
        const { id, name, api = whole, parts: one } = whole
        if (name !== undefined) addApi(host.server, id, name, api)
        for (const [method, { scopes = [] }] of one.methods) host.requireCallers(method, scopes)
        one.attach?.(host)
      }
    },
    capabilities({ era, protocolVersion, canStream, hasBus }, env) {
      const request = { era, protocolVersion, canStream, hasBus, env }
      const extensions: { [name: string]: object } = {}
      const also: { [name: string]: object } = {}
      for (const { id, parts: one } of all) {
        const settings = one.settings(request)
        if (settings === undefined) continue
        extensions[id] = settings
        if (one.alsoDeclaredAs !== undefined) also[one.alsoDeclaredAs] = settings
      }
      return Object.keys(extensions).length > 0 ? { ...also, extensions } : {}
    },
    method: first(({ methods }) => (name, era) => {
      const method = methods.get(name)
      return method?.eras.includes(era) ? method : undefined
    }),
    call: first(({ call }) => call),
    get hidesTools() {
      return parts.some(({ hidesTools }) => hidesTools === true)
    },
    hides: (...given) => parts.some(({ hides }) => hides?.(...given) === true),
    async listen(...given) {
      const found: ListenedTo[] = []
      for (const one of parts) {
        const own = await one.listen?.(...given)
        if (own !== undefined) found.push(own)
      }
      return found
    },
    translate: first(({ translate }) => translate),
    available: first(({ available }) => available),
    facts(env) {
      const told: ExtensionFacts[] = parts.map(({ facts }) => facts?.(env) ?? {})
      const extensionFaults = told.flatMap((one) => one.extensionFaults ?? [])
      const extensions = all.map(({ id }) => id)
      return Object.assign({}, ...told, {
        extensions,
        ...(extensionFaults.length > 0 && { extensionFaults }),
      })
    },
    serve: parts.some(({ serve }) => serve !== undefined) ? first(({ serve }) => serve) : undefined,
    close() {
      for (const { close } of parts) close?.()
    },
  }
}

function addApi(server: object, id: string, name: string, value: object): void {
  if (name in server)
    throw new TypeError(`Extension "${id}" cannot be named "${name}": servers have that already.`)
  Object.defineProperty(server, name, { value, enumerable: true })
}

function refuseTwice(all: readonly Extension[]): void {
  const taken = new Set<string>()
  for (const { id, name = '', parts } of all)
    for (const what of [
      `id ${id}`,
      `name ${name}`,
      `capability ${parts.alsoDeclaredAs ?? ''}`,
      ...methodsOf(parts),
    ]) {
      if (taken.has(what) && !what.endsWith(' '))
        throw new TypeError(`Two extensions of the server have the ${what}: remove one of them.`)
      taken.add(what)
    }
}

function methodsOf({ methods }: ExtensionParts): string[] {
  return [...methods.keys()].map((name) => `method ${name}`)
}
