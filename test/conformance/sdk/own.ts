/** Behind the SDK's own handler. */
import { createMcpHandler } from '@modelcontextprotocol/server'
import { bus, createServer } from './server.ts'

const handler = createMcpHandler(createServer, { bus })

export default { fetch: (request: Request) => handler.fetch(request) }
