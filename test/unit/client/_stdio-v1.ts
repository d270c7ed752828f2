import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { createV1Server } from './_v1-server.ts'

await createV1Server().connect(new StdioServerTransport())
