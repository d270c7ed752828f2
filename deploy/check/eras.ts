/** Which protocol versions the server supports, and how it answers the first request. */
import { isA } from '../../src/definition/error-text.ts'
import { isObject } from '../../src/definition/is-object.ts'
import type { Endpoint } from './endpoint.ts'
import { isStream } from './media-type.ts'
import { type JsonObject, LEGACY_VERSIONS, MODERN, SERVER_INFO } from './messages.ts'
import { degrades, type Outcome, Stop, skipped, works, wrong } from './outcome.ts'
import type { Probe, Topic } from './probe.ts'
import { describe, faultsOf, type Reply } from './reply.ts'
import { cite, quote } from './safe-text.ts'
import { DISCOVER_RESULT, INITIALIZE_RESULT } from './shapes.ts'
import { SPEC } from './spec.ts'
import { DECODABLE } from './transport.ts'

const UNKNOWN_VERSION = '1999-01-01'
/** The MCP versions that start with `initialize`. */
const KNOWN_VERSIONS: readonly string[] = [...LEGACY_VERSIONS, '2024-11-05', '2024-10-07']

const answers: Probe = {
  id: 'eras.any',
  title: 'answers MCP',
  spec: `${SPEC.versioning}#backward-compatibility-with-initialization-based-versions`,
  async run(endpoint) {
    const { contact } = endpoint
    if (contact.isLocked) return skipped(endpoint.whyLocked)
    if (contact.isModern || contact.isLegacy) return works(endpoint.eras.join(' and '))
    if (contact.redirect) return redirected(contact.redirect)
    const { discover, initialize } = contact
    const said = describeEach([
      ['server/discover', discover],
      ['initialize', initialize],
    ])
    if (await isHttpSse(endpoint))
      return wrong(
        'only the HTTP+SSE transport of 2024-11-05 answers here, which is deprecated',
        'serve Streamable HTTP: POST and JSON or SSE on one URL',
      )
    if ([discover, initialize].some((word) => !(word instanceof Stop) && word.answer.ended === 'undecodable'))
      return wrong(said, DECODABLE)
    if (said.includes('HTTP 403'))
      return wrong(
        said,
        'if it needs a token, pass --bearer, and make it answer 401 without one: clients do not log in on 403',
      )
    return wrong(
      said,
      said.includes('HTTP 5')
        ? 'look at the log of the server, and of a proxy before it'
        : 'check the path: most servers answer at /mcp, and a proxy or a login page may answer instead',
    )
  },
}

const modern: Probe = {
  id: 'eras.modern',
  title: `server/discover in ${MODERN}`,
  spec: `${SPEC.discover}#response`,
  run({ contact: { discover, isModern, isLegacy } }) {
    if (discover instanceof Stop) return discover.outcome
    const { result, error, id } = discover
    if (!isModern) {
      if (error?.code === -32022)
        return degrades(`refused: ${describe(discover)}`, `serve ${MODERN} too, which new clients use`)
      return isLegacy
        ? degrades(
            `legacy only: ${describe(discover)}`,
            `serve ${MODERN} too: it needs no session, so any instance can answer any request`,
          )
        : skipped('this URL does not answer MCP')
    }
    if (error?.code === -32020)
      return wrong(
        `a correct request is refused: ${describe(discover)}`,
        'let every proxy pass MCP-Protocol-Version, Mcp-Method and Mcp-Name',
      )
    if (result === undefined)
      return wrong(describe(discover), 'implement server/discover, which every server must have')
    const faults = [...faultsOf(discover, id), ...discoveryFaults(result)]
    if (faults.length > 0)
      return wrong(faults.join('; '), 'answer with a DiscoverResult as in the specification')
    const meta = isObject(result._meta) ? result._meta : {}
    if (!isObject(meta[SERVER_INFO]))
      return degrades('the server does not send its name', `put ${SERVER_INFO} into the _meta of results`)
    return works(`supports ${listOf(result.supportedVersions)}`)
  },
}

const legacy: readonly Probe[] = LEGACY_VERSIONS.map((version) => ({
  id: `eras.legacy.${version}`,
  title: `initialize in ${version}`,
  spec: `${SPEC.lifecycle}#version-negotiation`,
  async run(endpoint) {
    const { contact } = endpoint
    const isNewest = version === LEGACY_VERSIONS[0]
    if (isNewest && contact.initialize instanceof Stop) return contact.initialize.outcome
    if (endpoint.era === 'modern' && !contact.isLegacy)
      return isNewest ? modernOnly(endpoint) : skipped('modern only')
    const asked =
      isNewest && !(contact.initialize instanceof Stop)
        ? contact.initialize
        : await endpoint.initialize(version)
    const faults = [...faultsOf(asked, asked.id), ...initializeFaults(asked)]
    if (faults.length > 0)
      return wrong(
        `${describe(asked)}: ${faults.join('; ')}`,
        'answer initialize with an InitializeResult, status 200',
      )
    const answered = String(asked.result?.protocolVersion)
    if (!KNOWN_VERSIONS.includes(answered))
      return wrong(
        `answered with ${cite(answered)}, which no client supports`,
        'answer with the requested version, or the newest supported one',
      )
    if (answered !== version)
      return degrades(
        `answered with ${cite(answered)}`,
        `serve ${version} too: clients without a newer version disconnect`,
      )
    return works(isStream(asked.answer.headers) ? 'answered as a stream' : 'answered')
  },
}))

const negotiation: Probe = {
  id: 'eras.negotiation',
  title: 'initialize in an unknown version is answered with a known one',
  spec: `${SPEC.lifecycle}#version-negotiation`,
  async run(endpoint) {
    endpoint.requireEra('legacy')
    const asked = await endpoint.initialize(UNKNOWN_VERSION)
    const version = asked.result?.protocolVersion
    const fix = 'answer with the newest supported version, and let the client decide'
    if (typeof version !== 'string') return wrong(describe(asked), fix)
    if (!KNOWN_VERSIONS.includes(version))
      return wrong(`answered with ${cite(version)}, which no client supports`, fix)
    return works(`answered with ${cite(version)}`)
  },
}

/** The strings of an array, to be shown. */
export function listOf(value: unknown): string {
  const texts = Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
  return cite(texts.join(', '))
}

/** This is the only way for a legacy client to learn why it failed. */
function modernOnly({ contact: { initialize } }: Endpoint): Outcome {
  const versions = initialize instanceof Stop ? '' : initialize.answer.body
  return versions.includes(MODERN)
    ? degrades(
        'modern only; initialize is refused and the error lists the supported versions',
        'support initialize too: most clients in use are older',
      )
    : degrades(
        'modern only; initialize is refused without the supported versions',
        'list the supported versions in the error to initialize, or support this one: most clients in use are older',
      )
}

function discoveryFaults(result: JsonObject): string[] {
  const { supportedVersions, resultType, ttlMs, cacheScope } = result
  const fault = DISCOVER_RESULT(result, '')
  return [
    ...(fault === undefined ? [] : [fault]),
    ...(Array.isArray(supportedVersions) && supportedVersions.includes(MODERN)
      ? []
      : [`supportedVersions does not list ${MODERN}`]),
    ...(resultType === 'complete' ? [] : ['resultType is not "complete"']),
    ...(isTtl(ttlMs) ? [] : ['ttlMs is not a number from 0']),
    ...(cacheScope === 'public' || cacheScope === 'private'
      ? []
      : ['cacheScope is not "public" or "private"']),
  ]
}

export function isTtl(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) >= 0
}

function initializeFaults({ result }: Reply): string[] {
  if (result === undefined) return []
  const fault = INITIALIZE_RESULT(result, '')
  return fault === undefined ? [] : [fault]
}

function redirected({ status, location }: { status: number; location: string }): Outcome {
  const target = quote(location)
  return status === 307 || status === 308
    ? wrong(
        `redirected to ${target} (${status}); nothing else was tested`,
        'give clients the redirect’s target, and check that URL',
      )
    : wrong(
        `redirected to ${target} (${status}), which turns POST into GET; nothing else was tested`,
        'redirect with 308, or better give clients the redirect’s target, and check that URL',
      )
}

function describeEach(words: readonly (readonly [string, Reply | Stop])[]): string {
  const said = words.map(([, word]) => (word instanceof Stop ? word.outcome.detail : describe(word)))
  if (new Set(said).size === 1) return said[0]!
  const texts = words.map(([name], index) => `${name}: ${said[index]}`)
  return texts.join('; ')
}

/** The first event of the old transport contains the endpoint for POST. */
async function isHttpSse({ wire }: Endpoint): Promise<boolean> {
  try {
    const { events, headers } = await wire.send({
      label: 'GET',
      method: 'GET',
      headers: { accept: 'text/event-stream' },
      isEnough: (received, event) => !isStream(received) || event !== undefined,
    })
    return isStream(headers) && events[0]?.type === 'endpoint'
  } catch (error) {
    if (isA(error, Stop)) return false
    throw error
  }
}

/** The only result for a URL where no MCP server answers. */
export const answersMcp: Topic = { title: 'Eras', runs: 'together', probes: [answers] }

export const eras: Topic = {
  title: 'Eras',
  runs: 'together',
  probes: [answers, modern, ...legacy, negotiation],
}
