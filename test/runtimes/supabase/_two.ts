/** A server that tells whose variables it has: read while it loads, in each way, and with a call. */
import process, { env } from 'node:process'
import { createTool, MCPServer } from 'mayfly-mcp'
import { staticTokens } from 'mayfly-mcp/auth'

declare const Deno: { readonly env: { get(name: string): string | undefined } }

const loaded = [process.env.WHO, env.WHO, globalThis.process.env.WHO, Deno.env.get('WHO')]

export default new MCPServer({
  id: 'two',
  name: 'Two',
  version: '1.0.0',
  auth: staticTokens(({ API_TOKEN }: { API_TOKEN: string }) => [{ token: API_TOKEN, clientId: 'me' }]),
  tools: {
    who: createTool({
      id: 'who',
      execute: (_input, ctx) => {
        const { WHO, SHARED } = ctx.env as { readonly WHO?: string; readonly SHARED?: string }
        return [...loaded, WHO, SHARED].join()
      },
    }),
  },
})
