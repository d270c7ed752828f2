/** The official SDK v2 with a resource, a prompt, and tools that report progress and ask; and behind tokens. */
import { createMcpHandler, inputRequired, McpServer, requireBearerAuth } from '@modelcontextprotocol/server'
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose'
import { type FetchHandler, SERVER_INFO } from '../peers/peer.ts'
import { addTools } from '../peers/sdk-v2.ts'
import type { EchoTool } from '../tools.ts'
import { AUDIENCE, ISSUER, PROMPT, QUESTION, RESOURCE } from './features.ts'
import { form, promptArguments } from './schemas.ts'

export function serveFeatures(tools: readonly EchoTool[]): FetchHandler {
  const handler = createMcpHandler(() => {
    const server = new McpServer(SERVER_INFO)
    addTools(server, tools)
    addProgress(server)
    server.registerTool('ask', {}, async (ctx) => {
      const answer = ctx.mcpReq.inputResponses?.answer as { action?: string } | undefined
      if (answer?.action !== undefined) return { content: [{ type: 'text', text: answer.action }] }
      const question = inputRequired.elicit({ message: QUESTION, requestedSchema: form })
      return inputRequired({ inputRequests: { answer: question } })
    })
    addResourceAndPrompt(server)
    return server
  })
  return (request) => handler.fetch(request)
}

function addProgress(server: McpServer): void {
  server.registerTool('progress', {}, async (ctx) => {
    const progressToken = ctx.mcpReq._meta?.progressToken
    if (progressToken !== undefined) {
      const params = { progressToken, progress: 1, total: 2 }
      await ctx.mcpReq.notify({ method: 'notifications/progress', params })
    }
    return { content: [{ type: 'text', text: 'done' }] }
  })
}

function addResourceAndPrompt(server: McpServer): void {
  const { uri, name, mimeType, text } = RESOURCE
  server.registerResource(name, uri, { mimeType }, async () => ({ contents: [{ uri, mimeType, text }] }))
  server.registerPrompt(
    PROMPT.name,
    { description: PROMPT.description, argsSchema: promptArguments },
    async (args) => ({
      messages: [{ role: 'user', content: { type: 'text', text: PROMPT.textFor(args.name) } }],
    }),
  )
}

export function serveAuth(tools: readonly EchoTool[], keys: JSONWebKeySet): FetchHandler {
  const findKey = createLocalJWKSet(keys)
  const gate = requireBearerAuth({
    verifier: {
      verifyAccessToken: async (token) => {
        const { payload } = await jwtVerify(token, findKey, { issuer: ISSUER, audience: AUDIENCE })
        return { token, clientId: String(payload.client_id), scopes: [], expiresAt: payload.exp! }
      },
    },
  })
  const handler = createMcpHandler(() => {
    const server = new McpServer(SERVER_INFO)
    addTools(server, tools)
    return server
  })
  return async (request) => {
    const authInfo = await gate(request)
    return authInfo instanceof Response ? authInfo : handler.fetch(request, { authInfo })
  }
}
