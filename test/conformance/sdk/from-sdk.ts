/** Behind ours. */
import { fromSdk } from 'mayfly-mcp/sdk'
import { bus, createServer } from './server.ts'

export default fromSdk(createServer, { handler: { bus } })
