/**
 * Describes a server of another SDK for its page: sends it requests, as a client would.
 */

import type { Era } from '../definition/context.ts'
import { isA } from '../definition/error-text.ts'
import { isObject } from '../definition/is-object.ts'
import type { Received } from '../http/admission.ts'
import { type CallersConfig, tokenAuthOf } from '../http/known-callers.ts'
import type { PageModel } from '../http/page.ts'
import { parametersOf } from '../http/page-model.ts'
import type { ServerDescription } from '../http/routes.ts'
import { deadlineError, earliestEnd, watchCall } from '../protocol/deadline.ts'
import type { CallLimits } from '../protocol/engine-options.ts'
import { META } from '../protocol/envelope.ts'
import { LEGACY_VERSIONS, MODERN_VERSIONS } from '../protocol/versions.ts'
import type { Access } from '../request/access.ts'
import { AnsweredError, askForeign } from './ask-foreign.ts'
import { type GuardedNames, visibleTo } from './guarded.ts'
import type { RunForeign } from './run.ts'

type Result = { readonly [name: string]: unknown }

interface Identified {
  /** The era in which it answered, since some servers support only one. */
  readonly era: Era
  readonly serverInfo: Result
  readonly instructions: unknown
}

const CLIENT = { name: 'mayfly', version: '1' }

/** Milliseconds for which the page caches the description: each read runs the server up to five times. */
const PAGE_TTL_MS = 60_000

/** Milliseconds for which one request renews the description alone. It may never end. */
const RENEWAL_MS = 10_000

interface DescribedConfig extends CallersConfig {
  readonly scopes?: GuardedNames
}

/** Shows only what is open to everyone; what does not depend on the caller is requested once a minute. */
export function createDescription(
  run: RunForeign,
  config: DescribedConfig,
  limits: CallLimits,
  path: string,
): ServerDescription {
  let found: { readonly model: Omit<PageModel, 'endpoint'>; readonly until: number } | undefined
  return {
    async page(endpoint, access, received) {
      if (found === undefined || found.until < Date.now()) {
        // Others get the last page meanwhile: on workerd, a request must not wait for what another one reads.
        if (found !== undefined) found = { ...found, until: Date.now() + RENEWAL_MS }
        const model = await withinCallLimit(received, limits, (over) =>
          readPage({ run, received, over, access, config, path }),
        )
        found = { model, until: Date.now() + PAGE_TTL_MS }
      }
      return { ...found.model, endpoint }
    },
  }
}

/** One read of a server's lists, for its page. */
interface Look {
  /** What is open to everyone, if not everything is. */
  readonly access: Access | undefined
  readonly config: DescribedConfig
  readonly run: RunForeign
  /** Of the endpoint. */
  readonly path: string
  readonly received: Received
  /** Aborts when the read is over, for any reason. */
  readonly over: AbortSignal
}

/** A read has the time limit of a call, and ends when the client disconnects. */
async function withinCallLimit<Value>(
  { request, platform }: Received,
  limits: CallLimits,
  look: (over: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const over = new AbortController()
  const limit = earliestEnd(platform, false, limits)
  let stop = (): void => {}
  const cut = new Promise<never>((_resolve, reject) => {
    stop = watchCall(request.signal, limit, limits, {
      onDisconnect: () => reject(request.signal.reason),
      onExpire: () => reject(deadlineError(limit)),
    })
  })
  try {
    return await Promise.race([look(over.signal), cut])
  } finally {
    stop()
    over.abort()
  }
}

async function readPage(look: Look): Promise<Omit<PageModel, 'endpoint'>> {
  const { access, config } = look
  const hasAuth = tokenAuthOf(config) !== undefined
  const { era, serverInfo, instructions } = await identify(look)
  const { title, description, websiteUrl } = serverInfo
  const list = async (method: string, member: string): Promise<Result[]> => {
    if (hasAuth) return []
    const answer = await ask(look, era, method, {}).catch(() => ({}) as Result)
    const result = visibleTo(method, answer, access, config.scopes) as Result
    return Array.isArray(result[member]) ? result[member].filter(isObject) : []
  }
  const [tools, prompts, resources, templates] = await Promise.all([
    list('tools/list', 'tools'),
    list('prompts/list', 'prompts'),
    list('resources/list', 'resources'),
    list('resources/templates/list', 'resourceTemplates'),
  ])
  return {
    name: text(serverInfo.name) ?? 'MCP server',
    version: text(serverInfo.version) ?? '',
    // Instructions may mention features that need a token.
    ...texts({
      title,
      description,
      websiteUrl,
      instructions: access === undefined ? instructions : undefined,
    }),
    tools: tools.map(({ name, title, description, annotations, inputSchema }) => ({
      name: String(name),
      ...texts({ title, description }),
      readOnly: toObject(annotations).readOnlyHint === true,
      destructive: toObject(annotations).destructiveHint === true,
      parameters: parametersOf(toObject(inputSchema)),
    })),
    prompts: prompts.map(({ name, title, description, arguments: args }) => ({
      name: String(name),
      ...texts({ title, description }),
      arguments: (Array.isArray(args) ? args.filter(isObject) : []).map((argument) => ({
        name: String(argument.name),
        required: argument.required === true,
        ...texts({ description: argument.description }),
      })),
    })),
    resources: resources.map(({ uri, name, title, description, mimeType }) => ({
      uri: String(uri),
      ...texts({ name, title, description, mimeType }),
    })),
    resourceTemplates: templates.map(({ uriTemplate, name, description }) => ({
      uriTemplate: String(uriTemplate),
      ...texts({ name, description }),
    })),
    protocolVersions: era === 'modern' ? [...MODERN_VERSIONS] : [...LEGACY_VERSIONS],
  }
}

/** Asks like legacy clients and, if that is refused, like modern ones. */
async function identify(look: Look): Promise<Identified> {
  const declared = { protocolVersion: LEGACY_VERSIONS[0], capabilities: {}, clientInfo: CLIENT }
  const asLegacy = await ask(look, 'legacy', 'initialize', declared).catch((error: unknown) => {
    if (isA(error, AnsweredError)) return undefined
    throw error
  })
  if (asLegacy !== undefined) {
    const { serverInfo, instructions } = asLegacy
    return { era: 'legacy', serverInfo: toObject(serverInfo), instructions }
  }
  const { _meta, instructions } = await ask(look, 'modern', 'server/discover', {})
  return { era: 'modern', serverInfo: toObject(toObject(_meta)[META.serverInfo]), instructions }
}

function toRequest(
  path: string,
  era: Era,
  message: { method: string; params: Result },
  signal: AbortSignal,
): Request {
  const isModern = era === 'modern'
  const version = isModern ? MODERN_VERSIONS[0] : LEGACY_VERSIONS[0]
  return new Request(new URL(path, 'http://localhost'), {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(message.method !== 'initialize' && { 'mcp-protocol-version': version }),
      ...(isModern && { 'mcp-method': message.method }),
    },
    body: JSON.stringify(message),
    signal,
  })
}

/** @throws AnsweredError if the server answers with an error, and any error of the server. */
async function ask(
  { run, path, received: { platform, waitUntil }, over: lookIsOver }: Look,
  era: Era,
  method: string,
  params: Result,
): Promise<Result> {
  const envelope = {
    [META.protocolVersion]: MODERN_VERSIONS[0],
    [META.clientInfo]: CLIENT,
    [META.clientCapabilities]: {},
  }
  const sent = era === 'modern' ? { ...params, _meta: envelope } : params
  const message = { jsonrpc: '2.0', id: 1, method, params: sent }
  return askForeign(run, lookIsOver, (signal) => ({
    request: toRequest(path, era, message, signal),
    message,
    era,
    isBuffered: true,
    clientAddress: undefined,
    prefix: '',
    auth: undefined,
    env: platform.env,
    waitUntil,
  }))
}

function toObject(value: unknown): Result {
  return isObject(value) ? value : {}
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** The members that are strings. */
function texts<Name extends string>(
  values: { readonly [name in Name]: unknown },
): { [name in Name]?: string } {
  const entries = Object.entries(values).filter(([, value]) => typeof value === 'string')
  return Object.fromEntries(entries) as { [name in Name]?: string }
}
