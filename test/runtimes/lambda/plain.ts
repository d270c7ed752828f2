/** A server without anything around it, whose tool tells which of Node's own modules are loaded. */
import { createTool, MCPServer } from 'mayfly-mcp'
import * as z from 'zod'

const { moduleLoadList } = process as NodeJS.Process & { readonly moduleLoadList: readonly string[] }

export default new MCPServer({
  id: 'plain',
  name: 'Plain',
  version: '1.0.0',
  tools: {
    loaded: createTool({
      id: 'loaded',
      description: 'Whether a module of Node is loaded.',
      inputSchema: z.object({ module: z.string() }),
      execute: ({ module }) => moduleLoadList.includes(`NativeModule ${module}`),
    }),
    header: createTool({
      id: 'header',
      description: 'A header of the request.',
      inputSchema: z.object({ name: z.string() }),
      execute: ({ name }, { request }) => {
        const copy = new Request(request!)
        return `${copy instanceof Request} ${copy.method} ${copy.headers.get(name)}`
      },
    }),
  },
})
