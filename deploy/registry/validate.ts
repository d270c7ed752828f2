/** Finds what the MCP registry would refuse in a `server.json`, by its schema and by the rules that are not in the schema. */
import { jsonSchema } from '../../src/definition/json-schema.ts'
import type { JsonSchema } from '../../src/definition/schema.ts'
import { SERVER_SCHEMA } from './schema.ts'

interface Remote {
  readonly url?: string
  readonly variables?: object
}

interface Package {
  readonly registryType?: string
  readonly version?: string
  readonly fileSha256?: string
  readonly transport?: { readonly type?: string; readonly url?: string }
}

interface Document {
  readonly version?: string
  readonly remotes?: readonly Remote[]
  readonly packages?: readonly Package[]
  readonly _meta?: { readonly [key: string]: unknown }
}

const PUBLISHER = 'io.modelcontextprotocol.registry/publisher-provided'
const MAX_META_BYTES = 4096
/** Deeper than any name of the schema. */
const MAX_DEPTH = 20
const { pattern, maxLength } = SERVER_SCHEMA.properties.name
const NAME = new RegExp(pattern)

/** One line per error: `remotes.0.url: …`. Empty if the document is valid. Does not check who may publish under that name. */
export async function problemsOf(document: unknown): Promise<string[]> {
  const result = await jsonSchema(SERVER_SCHEMA as JsonSchema)['~standard'].validate(document)
  const name = nameProblem(document)
  const faults = (result.issues ?? []).flatMap(({ path = [], message }) => {
    const place = path.map(String).join('.') || 'the document'
    return place === 'name' && name !== undefined ? [] : [`${place}: ${message}`]
  })
  if (name !== undefined) faults.unshift(name)
  if (faults.length > 0) return [...oldNames(document), ...faults]
  const server = document as Document
  return [
    ...oldNames(document),
    ...versionProblems('version', server.version),
    ...(server.remotes ?? []).flatMap((remote, at) => remoteProblems(`remotes.${at}`, remote)),
    ...(server.packages ?? []).flatMap((one, at) => packageProblems(`packages.${at}`, one)),
    ...metaProblems(server._meta),
  ]
}

/** Replaces the schema's own message, which does not say the format. */
function nameProblem(document: unknown): string | undefined {
  const { name } = (document ?? {}) as { name?: unknown }
  if (typeof name !== 'string' || name.length > maxLength || NAME.test(name)) return undefined
  return `name: ${JSON.stringify(name)} is not namespace/name, such as io.github.user/shop`
}

/** The schema accepts names from versions before 2025-09-16, but their values would be lost. */
function oldNames(value: unknown, path = '', depth = 0): string[] {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return []
  return Object.entries(value).flatMap(([name, member]) => {
    const place = path === '' ? name : `${path}.${name}`
    if (name === '_meta') return []
    const renamed = name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
    const isOld = /^(?:registry|file|runtime|package|environment|is|value|website|mime)_[a-z\d_]+$/.test(name)
    const own = isOld ? [`${place}: the registry calls it ${renamed}`] : []
    return [...own, ...oldNames(member, place, depth + 1)]
  })
}

function versionProblems(place: string, version: string | undefined): string[] {
  const isRange =
    version !== undefined &&
    (version === 'latest' || /^\s*[\^~<>=]|\s-\s|\|\||^\s*v?\d+(?:\.\d+)*\.[xX*]|^\s*[xX*]/.test(version))
  return isRange ? [`${place}: "${version}" is not a single version, such as 1.2.3`] : []
}

function remoteProblems(place: string, { url = '', variables = {} }: Remote): string[] {
  const names = Array.from(url.matchAll(/\{([^}]+)\}/g), ([, name]) => name!)
  const unknown = names.filter((name) => !Object.hasOwn(variables, name))
  const filled = url.replaceAll(/:\{[^}]+\}(?=\/|$)/g, ':443').replaceAll(/\{[^}]+\}/g, 'x')
  const { protocol, hostname } = URL.canParse(filled) ? new URL(filled) : { protocol: '', hostname: '' }
  const isLocal = /^(?:localhost|.+\.localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname)
  return [
    ...(protocol === 'https:' && !isLocal ? [] : [`${place}.url: must be a public https URL`]),
    ...unknown.map((name) => `${place}.url: {${name}} is not in "variables"`),
  ]
}

function packageProblems(place: string, { registryType, version, fileSha256, transport }: Package): string[] {
  const isHttp = transport?.type !== 'stdio'
  return [
    ...versionProblems(`${place}.version`, version),
    ...(registryType === 'mcpb' && fileSha256 === undefined
      ? [`${place}.fileSha256: an .mcpb needs the SHA-256 of its file`]
      : []),
    ...(isHttp === (transport?.url === undefined)
      ? [`${place}.transport.url: ${isHttp ? 'is missing' : 'is not for stdio'}`]
      : []),
  ]
}

function metaProblems(meta: Document['_meta']): string[] {
  const provided = meta?.[PUBLISHER]
  const bytes = provided === undefined ? 0 : Buffer.byteLength(JSON.stringify(provided))
  return bytes > MAX_META_BYTES
    ? [`_meta: ${PUBLISHER} has ${bytes} bytes; ${MAX_META_BYTES} are allowed`]
    : []
}
