/** Mayfly with a resource, a prompt, and tools that report progress and ask; and behind tokens. */
import type { JSONWebKeySet } from 'jose'
import { createPrompt, createResource, createTool, MCPServer } from 'mayfly-mcp'
import { jwt } from 'mayfly-mcp/auth'
import { createServer, echoTool } from '../peers/mayfly.ts'
import { SERVER_INFO } from '../peers/peer.ts'
import type { EchoTool } from '../tools.ts'
import { AUDIENCE, ISSUER, PROMPT, QUESTION, RESOURCE } from './features.ts'
import { form, promptArguments } from './schemas.ts'

export function createFeatures(tools: readonly EchoTool[]): MCPServer {
  return new MCPServer({
    ...{ id: 'bench', ...SERVER_INFO, log: false },
    tools: {
      ...Object.fromEntries(tools.map((tool) => [tool.name, echoTool(tool)])),
      progress: createTool({
        id: 'progress',
        execute: async (_input, ctx) => {
          ctx.reportProgress({ progress: 1, total: 2 })
          return 'done'
        },
      }),
      ask: createTool({
        id: 'ask',
        execute: async (_input, ctx) => (await ctx.elicit(QUESTION, form)).action,
      }),
    },
    resources: [
      createResource({
        uri: RESOURCE.uri,
        name: RESOURCE.name,
        mimeType: RESOURCE.mimeType,
        read: () => RESOURCE.text,
      }),
    ],
    prompts: {
      [PROMPT.name]: createPrompt({
        description: PROMPT.description,
        argsSchema: promptArguments,
        get: ({ name }) => PROMPT.textFor(name),
      }),
    },
  })
}

export function createAuth(tools: readonly EchoTool[], keys: JSONWebKeySet): MCPServer {
  const auth = jwt({
    ...{ issuer: ISSUER, audience: AUDIENCE, jwksUri: `${ISSUER}/keys` },
    fetch: async () => Response.json(keys),
  })
  return createServer(tools, { log: false, auth })
}
