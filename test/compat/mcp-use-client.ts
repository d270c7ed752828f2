/** The examples of mcp-use's documentation of its client. Only the import is another one, and addresses are parameters. */
import type { ElicitResult, LoggingMessageNotificationParams } from '@modelcontextprotocol/sdk/types.js'
import {
  accept,
  acceptWithDefaults,
  decline,
  type ElicitContent,
  MCPClient,
  type OnElicitationCallback,
  validate,
} from '../../src/mcp-use-client.ts'

/** "MCP Client": quick start. */
export async function quickStart(url: string) {
  const lines: string[] = []
  const client = new MCPClient({
    mcpServers: {
      demo: { url },
    },
  })
  try {
    const connection = await client.connect('demo')
    const tools = await connection.listTools()
    lines.push(...tools.map((t) => t.name))
    const result = await connection.callTool('echo', { message: 'hello' })
    const text = result.content.find((b) => b.type === 'text')
    if (text?.type === 'text') lines.push(text.text)
  } finally {
    await client.close()
  }
  return lines
}

/** "Elicitation": setup. */
export function answering(url: string, visited: (url: string) => void) {
  const onElicitation: OnElicitationCallback = async (params) => {
    if (params.mode === 'url') {
      visited(`Visit: ${params.url}`)
      return { action: 'accept' }
    }
    // Form mode — collect fields from params.requestedSchema
    return acceptWithDefaults(params)
  }
  return new MCPClient({ mcpServers: { demo: { url } } }, { onElicitation })
}

/** "Tools": lazy connect, timeouts and results. */
export async function lazily(url: string, token: string) {
  const client = new MCPClient({ mcpServers: { demo: { url, authToken: token } } })
  let conn = client.getSession('demo')
  if (!conn) conn = await client.connect('demo')
  const abortController = new AbortController()
  const result = await conn.callTool(
    'echo',
    { message: 'hello' },
    { timeout: 300_000, signal: abortController.signal },
  )
  const isSame = client.requireSession('demo') === conn
  await client.closeAllSessions()
  return { content: result.content, isSame }
}

/** mcp-use 1.x: sessions. */
export async function sessions(url: string, elicitationCallback: OnElicitationCallback) {
  const client = new MCPClient({ mcpServers: { demo: { url } } }, { elicitationCallback })
  await client.createAllSessions()
  const session = client.getSession('demo')!
  const { resources } = await session.listAllResources()
  const read = await session.readResource(resources[0]!.uri)
  const { prompts } = await session.listPrompts()
  const { messages } = await session.getPrompt(prompts[0]!.name, { code: 'a+b' })
  const asked = await session.callTool('ask')
  await client.closeAllSessions()
  return { read: read.contents, messages, asked: asked.content, left: client.getAllActiveSessions() }
}

/** "Elicitation": a form that is filled in field by field and validated, a URL, and one server that answers for itself. */
export function filling(
  urls: { form: string; auto: string },
  entered: (field: string) => string | undefined,
) {
  const form: OnElicitationCallback = async (params): Promise<ElicitResult> => {
    if (params.mode === 'url') return { action: 'decline' }
    const data: ElicitContent = {}
    for (const [key, field] of Object.entries(params.requestedSchema.properties)) {
      const value = entered(key) ?? field.default
      if (params.requestedSchema.required?.includes(key) && value === undefined)
        return decline(`Missing required field: ${key}`)
      if (value !== undefined) data[key] = value as ElicitContent[string]
    }
    const { valid, errors } = validate(params, data)
    return valid ? accept(data) : decline(errors?.join('; '))
  }
  return new MCPClient(
    {
      mcpServers: {
        form: { url: urls.form },
        auto: { url: urls.auto, onElicitation: async (params) => acceptWithDefaults(params) },
      },
    },
    { onElicitation: form },
  )
}

/** mcp-use 1.x has `loggingCallback` for all servers; here each has `log`. */
export function logging(
  url: string,
  log: (params: Omit<LoggingMessageNotificationParams, 'logger'>) => void,
) {
  return new MCPClient({ mcpServers: { demo: { url, log } } })
}
