/**
 * What a server that is not ours shows of itself: it is asked, as a client would ask it.
 */
import type { ServerFace } from '../http/app.ts'
import type { HostingConfig } from '../http/hosting.ts'
import type { PageModel } from '../http/page.ts'
import { parametersOf } from '../http/page-model.ts'
import { isObject } from '../protocol/json-rpc.ts'
import { isEventStream, readEvents } from '../protocol/read-events.ts'
import { LEGACY_VERSIONS } from '../protocol/versions.ts'
import type { RequestPlatform } from '../request/platform.ts'
import type { RunForeign } from './run.ts'

type Result = { readonly [name: string]: unknown }

/** Who they are is asked once; what they have, each time the page is opened, and only where everybody may know. */
export function createFace(run: RunForeign, { auth }: HostingConfig): ServerFace {
  let initialized: Promise<Result> | undefined
  const identify = (platform: RequestPlatform): Promise<Result> => {
    initialized ??= ask(run, platform, 'initialize', {
      protocolVersion: LEGACY_VERSIONS[0],
      capabilities: {},
      clientInfo: { name: 'mayfly', version: '1' },
    })
    // A fault may pass.
    initialized.catch(() => {
      initialized = undefined
    })
    return initialized
  }
  const identity = async (platform: RequestPlatform) => {
    const { name, version } = toObject((await identify(platform)).serverInfo)
    return { name: text(name) ?? 'MCP server', version: text(version) ?? '' }
  }
  const list = async (platform: RequestPlatform, method: string, member: string): Promise<Result[]> => {
    if (auth !== undefined) return []
    const result = await ask(run, platform, method, {}).catch(() => ({}) as Result)
    return Array.isArray(result[member]) ? result[member].filter(isObject) : []
  }
  return {
    identity,
    async page(endpoint, _access, platform): Promise<PageModel> {
      const { serverInfo, instructions } = await identify(platform)
      const { title, description, websiteUrl } = toObject(serverInfo)
      const [tools, prompts, resources, templates] = await Promise.all([
        list(platform, 'tools/list', 'tools'),
        list(platform, 'prompts/list', 'prompts'),
        list(platform, 'resources/list', 'resources'),
        list(platform, 'resources/templates/list', 'resourceTemplates'),
      ])
      return {
        ...(await identity(platform)),
        endpoint,
        ...texts({ title, description, websiteUrl, instructions }),
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
        protocolVersions: [...LEGACY_VERSIONS],
      }
    },
  }
}

/** @throws Error where the server answers with an error, or not at all. */
async function ask(
  run: RunForeign,
  { env, waitUntil = () => {} }: RequestPlatform,
  method: string,
  params: object,
): Promise<Result> {
  const message = { jsonrpc: '2.0', id: 1, method, params }
  const over = new AbortController()
  const answer = await run({
    request: new Request('http://localhost/mcp', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(method !== 'initialize' && { 'mcp-protocol-version': LEGACY_VERSIONS[0] }),
      },
      body: JSON.stringify(message),
      signal: over.signal,
    }),
    message,
    era: 'legacy',
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
    if (!isObject(result)) throw new Error(`${method} was answered ${last.slice(0, 200)}`)
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
