import { McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'

serveStdio(() => {
  const server = new McpServer({ name: 'v2', version: '1.0.0' })
  server.registerTool('env', {}, () => ({
    content: [{ type: 'text', text: `${process.env.GREETING} ${process.env.SECRET_OF_THE_PARENT}` }],
  }))
  server.registerTool('exit', {}, () => {
    setImmediate(() => process.exit(0))
    return { content: [{ type: 'text', text: 'bye' }] }
  })
  return server
})
