/**
 * What a server that is not ours shows of itself: it is asked, as a client would ask it.
 */
import type { HostingConfig } from '../http/hosting.ts'
import type { PageModel } from '../http/page.ts'
import { parametersOf } from '../http/page-model.ts'
import type { ServerDescription } from '../http/routes.ts'
import { META } from '../protocol/envelope.ts'
import { isObject } from '../protocol/json-rpc.ts'
import { isEventStream, readEvents } from '../protocol/read-events.ts'
import { LEGACY_VERSIONS, MODERN_VERSIONS } from '../protocol/versions.ts'
import type { RequestPlatform } from '../request/platform.ts'
import type { RunForeign } from './run.ts'

type Result = { readonly [name: string]: unknown }

type Era = 'legacy' | 'modern'

interface Identified {
  /** The one in which it has answered: some speak one alone. */
  readonly era: Era
  readonly serverInfo: Result
  readonly instructions: unknown
}

const CLIENT = { name: 'mayfly', version: '1' }

/** Milliseconds for which the page shows what it has found: each look runs the server up to five times. */
const PAGE_TTL_MS = 60_000

/** What is asked only where everybody may know it; what does not change with who asks, once a minute. */
export function createDescription(run: RunForeign, { auth }: HostingConfig): ServerDescription {
  const { page } = createReader(run, auth !== undefined)
  let found: { readonly model: Promise<Omit<PageModel, 'endpoint'>>; readonly until: number } | undefined
  return {
    async page(endpoint, _access, platform) {
      if (found === undefined || found.until < Date.now()) {
        const model = page(platform)
        found = { model, until: Date.now() + PAGE_TTL_MS }
        // A fault may pass.
        model.catch(() => {
          found = undefined
        })
      }
      return { ...(await found.model), endpoint }
    },
  }
}

function createReader(
  run: RunForeign,
  hasAuth: boolean,
): { page(platform: RequestPlatform): Promise<Omit<PageModel, 'endpoint'>> } {
  let identified: Promise<Identified> | undefined
  const identify = (platform: RequestPlatform): Promise<Identified> => {
    identified ??= askWhoItIs(run, platform)
    // A fault may pass.
    identified.catch(() => {
      identified = undefined
    })
    return identified
  }
  const list = async (platform: RequestPlatform, method: string, member: string): Promise<Result[]> => {
    if (hasAuth) return []
    const { era } = await identify(platform)
    const result = await ask(run, platform, era, method, {}).catch(() => ({}) as Result)
    return Array.isArray(result[member]) ? result[member].filter(isObject) : []
  }
  return {
    async page(platform) {
      const { era, serverInfo, instructions } = await identify(platform)
      const { title, description, websiteUrl } = serverInfo
      const [tools, prompts, resources, templates] = await Promise.all([
        list(platform, 'tools/list', 'tools'),
        list(platform, 'prompts/list', 'prompts'),
        list(platform, 'resources/list', 'resources'),
        list(platform, 'resources/templates/list', 'resourceTemplates'),
      ])
      return {
        name: text(serverInfo.name) ?? 'MCP server',
        version: text(serverInfo.version) ?? '',
        // Instructions can name what is not open to everybody.
        ...texts({ title, description, websiteUrl, instructions: hasAuth ? undefined : instructions }),
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
    },
  }
}

/** As legacy clients do, and where that is refused, as modern ones. */
async function askWhoItIs(run: RunForeign, platform: RequestPlatform): Promise<Identified> {
  const declared = { protocolVersion: LEGACY_VERSIONS[0], capabilities: {}, clientInfo: CLIENT }
  const asLegacy = await ask(run, platform, 'legacy', 'initialize', declared).catch((error: unknown) => {
    if (error instanceof AnsweredError) return undefined
    throw error
  })
  if (asLegacy !== undefined) {
    const { serverInfo, instructions } = asLegacy
    return { era: 'legacy', serverInfo: toObject(serverInfo), instructions }
  }
  const { _meta, instructions } = await ask(run, platform, 'modern', 'server/discover', {})
  return { era: 'modern', serverInfo: toObject(toObject(_meta)[META.serverInfo]), instructions }
}

/** The server has answered, with an error. */
class AnsweredError extends Error {}

function toRequest(era: Era, message: { method: string; params: Result }, signal: AbortSignal): Request {
  const isModern = era === 'modern'
  const version = isModern ? MODERN_VERSIONS[0] : LEGACY_VERSIONS[0]
  return new Request('http://localhost/mcp', {
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

/** @throws AnsweredError where the server answers with an error; whatever it throws. */
async function ask(
  run: RunForeign,
  { env, waitUntil = () => {} }: RequestPlatform,
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
  const over = new AbortController()
  const answer = await run({
    request: toRequest(era, message, over.signal),
    message,
    era,
    isWhole: true,
    auth: undefined,
    env,
    waitUntil,
  })
  try {
    const { response } = answer
    let last = ''
    if (isEventStream(response) && response.body !== null) {
      await readEvents(response.body, (data) => {
        last = data
      })
    } else last = await response.text()
    const { result } = toObject(JSON.parse(last))
    if (!isObject(result)) throw new AnsweredError(`${method} was answered ${last.slice(0, 200)}`)
    return result
  } finally {
    over.abort()
    await answer.close()
  }
}

function toObject(value: unknown): Result {
  return isObject(value) ? value : {}
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** Those that are text. */
function texts<Name extends string>(
  values: { readonly [name in Name]: unknown },
): { [name in Name]?: string } {
  const entries = Object.entries(values).filter(([, value]) => typeof value === 'string')
  return Object.fromEntries(entries) as { [name in Name]?: string }
}
