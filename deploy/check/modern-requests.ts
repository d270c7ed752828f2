/** What a server of 2026-07-28 must refuse, and with which errors. */
import { isObject } from '../../src/definition/is-object.ts'
import type { Asked, Asking, Endpoint } from './endpoint.ts'
import { listOf } from './eras.ts'
import { isStream } from './media-type.ts'
import { MODERN, SERVER_INFO, VERSION_META } from './messages.ts'
import { degrades, type Outcome, skipped, works, wrong } from './outcome.ts'
import type { Probe, Topic } from './probe.ts'
import { brief, describe, faultsOf } from './reply.ts'
import { cite } from './safe-text.ts'
import { SPEC } from './spec.ts'

/** No server has this tool, so that a call runs nothing. */
export const UNKNOWN_TOOL = 'mayfly_check_no_such_tool'
const UNKNOWN_VERSION = '1999-01-01'

interface Refusal {
  readonly id: string
  readonly title: string
  readonly spec: string
  readonly asking: Asking
  readonly status: number
  readonly code: number
  readonly fix: string
}

const REFUSALS: readonly Refusal[] = [
  {
    id: 'modern.version-header',
    title: 'an MCP-Protocol-Version that contradicts the body is refused',
    spec: `${SPEC.http}#protocol-version-header`,
    asking: { method: 'server/discover', headers: { 'mcp-protocol-version': '2025-11-25' } },
    status: 400,
    code: -32020,
    fix: 'compare the header with _meta, and answer 400 with -32020: proxies route by the header',
  },
  {
    id: 'modern.method-header',
    title: 'an Mcp-Method that contradicts the body is refused',
    spec: `${SPEC.http}#server-validation`,
    asking: { method: 'server/discover', headers: { 'mcp-method': 'tools/list' } },
    status: 400,
    code: -32020,
    fix: 'compare Mcp-Method with the method, and answer 400 with -32020: proxies route by the header',
  },
  {
    id: 'modern.method-header-missing',
    title: 'a request without Mcp-Method is refused',
    spec: `${SPEC.http}#standard-request-headers`,
    asking: { method: 'server/discover', headers: { 'mcp-method': undefined } },
    status: 400,
    code: -32020,
    fix: 'require Mcp-Method, and answer 400 with -32020 without it',
  },
  {
    id: 'modern.name-header',
    title: 'an Mcp-Name that contradicts the body is refused',
    spec: `${SPEC.http}#server-validation`,
    asking: {
      method: 'tools/call',
      params: { name: UNKNOWN_TOOL, arguments: {} },
      headers: { 'mcp-name': `${UNKNOWN_TOOL}_2` },
    },
    status: 400,
    code: -32020,
    fix: 'compare Mcp-Name with params.name, and answer 400 with -32020: proxies route by the header',
  },
  {
    id: 'modern.name-header-missing',
    title: 'tools/call without Mcp-Name is refused',
    spec: `${SPEC.http}#standard-request-headers`,
    asking: {
      method: 'tools/call',
      params: { name: UNKNOWN_TOOL, arguments: {} },
      headers: { 'mcp-name': undefined },
    },
    status: 400,
    code: -32020,
    fix: 'require Mcp-Name for tools/call, prompts/get and resources/read, and answer 400 with -32020 without it',
  },
  {
    id: 'modern.meta',
    title: 'a request without _meta fields is refused',
    spec: `${SPEC.basic}#meta`,
    asking: { method: 'server/discover', meta: {} },
    status: 400,
    code: -32602,
    fix: 'require protocolVersion and clientCapabilities in _meta, and answer 400 with -32602 without them',
  },
  {
    id: 'modern.meta-capabilities',
    title: 'a request without clientCapabilities is refused',
    spec: `${SPEC.basic}#meta`,
    asking: { method: 'server/discover', meta: { [VERSION_META]: MODERN } },
    status: 400,
    code: -32602,
    fix: 'require clientCapabilities in _meta, and answer 400 with -32602 without it',
  },
  {
    id: 'modern.method',
    title: 'an unknown method is -32601 with 404',
    spec: `${SPEC.http}#protocol-version-header`,
    asking: { method: 'mayfly/check-no-such-method' },
    status: 404,
    code: -32601,
    fix: 'answer an unknown method with 404 and -32601',
  },
]

const refusals: readonly Probe[] = REFUSALS.map(({ id, title, spec, asking, status, code, fix }) => ({
  id,
  title,
  spec,
  async run(endpoint) {
    endpoint.requireEra('modern')
    const asked = await endpoint.ask('modern', asking)
    const { error, answer } = asked
    if (error?.code === code && answer.status === status) return works(brief(asked))
    // Still refused, but with less information for the client.
    if (error !== undefined && answer.status < 500) return degrades(describe(asked), fix)
    return answer.status >= 400 && answer.status < 500
      ? degrades(describe(asked), fix)
      : wrong(describe(asked), fix)
  },
}))

const version: Probe = {
  id: 'modern.version',
  title: 'an unknown version is -32022 with the supported versions',
  spec: `${SPEC.versioning}#protocol-version-negotiation`,
  async run(endpoint) {
    endpoint.requireEra('modern')
    const asked = await endpoint.ask('modern', { method: 'server/discover', version: UNKNOWN_VERSION })
    const fix =
      'answer 400 and -32022 with { supported, requested }: without it clients treat the server as a legacy one'
    const { error, answer } = asked
    const data = isObject(error?.data) ? error.data : {}
    if (error?.code !== -32022) return wrong(describe(asked), fix)
    if (!Array.isArray(data.supported) || data.supported.length === 0)
      return wrong(`${describe(asked)}, without data.supported`, fix)
    if (answer.status !== 400 || data.requested !== UNKNOWN_VERSION)
      return degrades(
        `${describe(asked)}${data.requested === UNKNOWN_VERSION ? '' : ', without data.requested'}`,
        fix,
      )
    return works(`supported: ${listOf(data.supported)}`)
  },
}

const base64: Probe = {
  id: 'modern.name-base64',
  title: 'an Mcp-Name in Base64 is decoded',
  spec: `${SPEC.http}#value-encoding`,
  async run(endpoint) {
    endpoint.requireEra('modern')
    const name = `${UNKNOWN_TOOL}_☃`
    const encoded = `=?base64?${Buffer.from(name).toString('base64')}?=`
    const asked = await endpoint.ask('modern', {
      method: 'tools/call',
      params: { name, arguments: {} },
      headers: { 'mcp-name': encoded },
    })
    const fix = 'decode =?base64?…?= before comparing: non-ASCII names are sent in this form'
    return asked.error?.code === -32020 ? wrong(describe(asked), fix) : works(brief(asked))
  },
}

const session: Probe = {
  id: 'modern.no-session',
  title: 'session ids are ignored and not sent',
  spec: `${SPEC.http}#earlier-streamable-http-revisions`,
  async run(endpoint) {
    endpoint.requireEra('modern')
    const headers = { 'mcp-session-id': 'mayfly-check-no-such-session', 'last-event-id': '1' }
    const asked = await endpoint.ask('modern', { method: 'server/discover', headers })
    const fix = 'ignore Mcp-Session-Id and Last-Event-ID in 2026-07-28, and send no session id'
    if (asked.result === undefined) return degrades(`refused: ${describe(asked)}`, fix)
    if (asked.answer.headers.has('mcp-session-id')) return degrades('a session id is given', fix)
    return works('ignored')
  },
}

const result: Probe = {
  id: 'modern.result',
  title: 'results have a type and the name of the server',
  spec: `${SPEC.basic}#resulttype`,
  async run(endpoint) {
    endpoint.requireEra('modern')
    const asked = await endpoint.ask('modern', { method: 'tools/list' })
    if (asked.result === undefined) return skipped(describe(asked))
    const { resultType, _meta: meta } = asked.result
    if (typeof resultType !== 'string')
      return wrong('resultType is missing', 'put "resultType": "complete" into results')
    if (!isObject(meta) || !isObject(meta[SERVER_INFO]))
      return degrades('the server does not say its name', `put ${SERVER_INFO} into the _meta of results`)
    return works(cite(resultType))
  },
}

/** For both eras: an unknown tool is -32602, and nothing runs. */
export async function callUnknownTool(endpoint: Endpoint, era: 'modern' | 'legacy'): Promise<Outcome> {
  endpoint.requireEra(era)
  const asked: Asked = await endpoint.ask(era, {
    method: 'tools/call',
    params: { name: UNKNOWN_TOOL, arguments: {} },
  })
  const fix = 'answer -32602 for a tool that does not exist'
  if (asked.error?.code === -32602) {
    const faults = faultsOf(asked, asked.id)
    return faults.length === 0 ? works(brief(asked)) : wrong(faults.join('; '), fix)
  }
  if (asked.error?.code === -32601) return works(`${brief(asked)}: no tools`)
  if (asked.result?.isError === true) return degrades('answered as a failed tool call', fix)
  if (asked.result !== undefined) return wrong('answered as if the tool existed', fix)
  return asked.answer.status >= 500 || isStream(asked.answer.headers)
    ? wrong(describe(asked), fix)
    : degrades(describe(asked), fix)
}

const unknownTool: Probe = {
  id: 'modern.unknown-tool',
  title: 'an unknown tool is -32602',
  spec: `${SPEC.tools}#error-handling`,
  run: (endpoint) => callUnknownTool(endpoint, 'modern'),
}

export const modernRequests: Topic = {
  title: 'Modern requests',
  runs: 'together',
  probes: [version, ...refusals, base64, session, result, unknownTool],
}
