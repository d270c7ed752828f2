/** Sessions, and how a legacy server answers unknown methods, tools and versions. */

import { callUnknownTool } from './modern-requests.ts'
import { degrades, skipped, works, wrong } from './outcome.ts'
import type { Probe, Topic } from './probe.ts'
import { brief, describe, faultsOf } from './reply.ts'
import { SPEC } from './spec.ts'

const SESSIONS = `${SPEC.legacyHttp}#session-management`
const FOREIGN_SESSION = 'mayfly-check-no-such-session'

const given: Probe = {
  id: 'legacy.session',
  title: 'initialize and sessions',
  spec: SESSIONS,
  run(endpoint) {
    endpoint.requireEra('legacy')
    const id = endpoint.contact.session?.id
    if (id === undefined) return works('no Mcp-Session-Id: the server is stateless')
    if (!/^[\x21-\x7e]+$/.test(id))
      return wrong(
        'the Mcp-Session-Id has characters that a header must not have',
        'use visible ASCII characters only',
      )
    return works(`gives an Mcp-Session-Id of ${id.length} characters`)
  },
}

const ping: Probe = {
  id: 'legacy.ping',
  title: 'ping is answered',
  spec: `${SPEC.lifecycle}#operation`,
  async run(endpoint) {
    endpoint.requireEra('legacy')
    const asked = await endpoint.ask('legacy', { method: 'ping' })
    const faults = faultsOf(asked, asked.id)
    const fix = 'answer ping with an empty result: clients use it to check whether the server is alive'
    return asked.result !== undefined && faults.length === 0
      ? works(brief(asked))
      : wrong(asked.error ? describe(asked) : faults.join('; '), fix)
  },
}

const needed: Probe = {
  id: 'legacy.session-needed',
  title: 'the next request works without the session',
  spec: SESSIONS,
  async run(endpoint) {
    endpoint.requireEra('legacy')
    if (endpoint.contact.session?.id === undefined) return skipped('no session is given')
    const asked = await endpoint.ask('legacy', { method: 'ping', headers: { 'mcp-session-id': undefined } })
    if (asked.result !== undefined) return works('any instance can answer')
    return degrades(
      `refused: ${describe(asked)}`,
      'do not keep sessions if requests may reach another instance, or share sessions between instances',
    )
  },
}

const unknown: Probe = {
  id: 'legacy.session-unknown',
  title: 'an unknown session',
  spec: SESSIONS,
  async run(endpoint) {
    endpoint.requireEra('legacy')
    const asked = await endpoint.ask('legacy', {
      method: 'ping',
      headers: { 'mcp-session-id': FOREIGN_SESSION },
    })
    if (asked.result !== undefined) return works('ignored')
    if (asked.answer.status === 404) return works('refused with 404: the client starts a new one')
    return wrong(
      `refused: ${describe(asked)}`,
      'answer 404: only then clients start a new session after a restart',
    )
  },
}

const version: Probe = {
  id: 'legacy.version-header',
  title: 'an unknown MCP-Protocol-Version is refused',
  spec: `${SPEC.legacyHttp}#protocol-version-header`,
  async run(endpoint) {
    endpoint.requireEra('legacy')
    const asked = await endpoint.ask('legacy', {
      method: 'ping',
      headers: { 'mcp-protocol-version': '1999-01-01' },
    })
    const fix = 'answer 400 for an unsupported version'
    if (asked.answer.status === 400) return works(brief(asked))
    return asked.answer.status >= 500 ? wrong(describe(asked), fix) : degrades(describe(asked), fix)
  },
}

const method: Probe = {
  id: 'legacy.method',
  title: 'an unknown method is -32601',
  spec: `${SPEC.basic}#error-codes`,
  async run(endpoint) {
    endpoint.requireEra('legacy')
    const asked = await endpoint.ask('legacy', { method: 'mayfly/check-no-such-method' })
    const fix = 'answer an unknown method with -32601: clients treat it as "not supported"'
    if (asked.error?.code !== -32601)
      return asked.error === undefined ? wrong(describe(asked), fix) : degrades(describe(asked), fix)
    const faults = faultsOf(asked, asked.id)
    return faults.length === 0 ? works(brief(asked)) : wrong(faults.join('; '), fix)
  },
}

const unknownTool: Probe = {
  id: 'legacy.unknown-tool',
  title: 'an unknown tool is -32602',
  spec: `${SPEC.tools}#error-handling`,
  run: (endpoint) => callUnknownTool(endpoint, 'legacy'),
}

export const legacyRequests: Topic = {
  title: 'Legacy requests',
  runs: 'together',
  probes: [given, needed, unknown, ping, version, method, unknownTool],
}
