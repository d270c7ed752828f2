/** Sends `server/discover` to a local server until it answers, which proves that it is up. */

import { setTimeout as delay } from 'node:timers/promises'
import { boundedFetch } from '../../src/definition/bounded-fetch.ts'
import { isObject } from '../../src/definition/is-object.ts'
import type { ServerIdentity } from '../contract/target.ts'
import { CliError } from '../terminal/cli-error.ts'

const PROTOCOL_VERSION = '2026-07-28'
const PROBE_TIMEOUT_MS = 5000
const MAX_ANSWER_BYTES = 4 * 1024 * 1024
const PROBE_INTERVAL_MS = 50
const SILENCE_TIMEOUT_MS = 60_000
/** A 5xx may come from a runtime that is still starting; after this time it counts as the server's error. */
const FAILURE_TIMEOUT_MS = 10_000

type ProbeResult =
  | { ready: true; identity: ServerIdentity }
  | { ready: false; answer: string; giveUpAfterMs: number }

/**
 * Resolves when `url` answers JSON-RPC with a status below 500, or 401 or 403 (a server that requires a token is up). Rejects with
 * `CliError` if it answers anything else, fails for 10 seconds, or is silent for 60. Stops when `signal` aborts.
 */
export async function untilAnswers(url: string, signal: AbortSignal): Promise<ServerIdentity> {
  const started = Date.now()
  for (;;) {
    const result = await probe(url, signal)
    if (result.ready) return result.identity
    if (Date.now() - started >= result.giveUpAfterMs) {
      throw new CliError(
        `POST ${url} returned ${result.answer} instead of JSON-RPC: pass the path of the MCP endpoint, as in --path /api/mcp`,
      )
    }
    await delay(PROBE_INTERVAL_MS, undefined, { signal })
  }
}

async function probe(url: string, stopped: AbortSignal): Promise<ProbeResult> {
  const limits = { timeoutMs: PROBE_TIMEOUT_MS, maxBytes: MAX_ANSWER_BYTES, signal: stopped }
  try {
    const { status, text } = await boundedFetch(url, { redirect: 'follow', ...discoverRequest() }, limits)
    return judge(status, text)
  } catch {
    // Refused, reset, without an end or timed out: still starting.
    return { ready: false, answer: 'no answer', giveUpAfterMs: SILENCE_TIMEOUT_MS }
  }
}

function judge(status: number, body: string): ProbeResult {
  const message = parseMessage(body)
  if (status < 500 && message) return { ready: true, identity: { wantsToken: status === 401 } }
  if (status === 401 || status === 403) return { ready: true, identity: { wantsToken: status === 401 } }
  return { ready: false, answer: `status ${status}`, giveUpAfterMs: status < 500 ? 0 : FAILURE_TIMEOUT_MS }
}

function discoverRequest(): RequestInit {
  const meta = 'io.modelcontextprotocol/'
  return {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': PROTOCOL_VERSION,
      'mcp-method': 'server/discover',
      // By the id, its line in the log is not shown, also if the server refuses it unread.
      'x-request-id': 'mayfly-dev',
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'server/discover',
      params: {
        _meta: {
          [`${meta}protocolVersion`]: PROTOCOL_VERSION,
          [`${meta}clientInfo`]: { name: 'mayfly-dev', version: '1' },
          [`${meta}clientCapabilities`]: {},
        },
      },
    }),
  }
}

/** The JSON-RPC message in a JSON body, or in the last event of an SSE body. */
function parseMessage(body: string): object | undefined {
  const events = [...body.matchAll(/^data: ?(.*)$/gm)]
  try {
    const message: unknown = JSON.parse(events.at(-1)?.[1] ?? body)
    return isObject(message) && message.jsonrpc === '2.0' ? message : undefined
  } catch {
    return undefined
  }
}
