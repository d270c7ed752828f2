/** Entries whose default export is a wrapper around an `MCPServer`, by what is around it. */
import { secretOf } from '../_secrets.ts'

const SERVER = `import { createTool, MCPServer } from 'mayfly-mcp'
const hello = createTool({ id: 'hello', description: 'Says hello', execute: () => 'hello' })
const config = { id: 'shop', name: 'Shop', version: '1.2.3', description: 'Sells things', tools: { hello } }
`
const CARD = "{ url: 'https://shop.example.com/mcp' }"

export const WRAPPED_SERVERS: readonly (readonly [around: string, source: string])[] = [
  [
    'a server card',
    `${SERVER}import { withServerCard } from 'mayfly-mcp/server-card'
export default withServerCard(new MCPServer(config), ${CARD})`,
  ],
  [
    'an endpoint of tasks',
    `${SERVER}import { createTaskEndpoint, createMemoryTasks } from 'mayfly-mcp/tasks'
const server = new MCPServer({ ...config, tasks: createMemoryTasks() })
export default createTaskEndpoint({ server, secret: '${secretOf('x')}' }).mount()`,
  ],
  [
    'a server card around sessions',
    `${SERVER}import { createSessions } from 'mayfly-mcp/node'
import { withServerCard } from 'mayfly-mcp/server-card'
import { secretOf } from '../_secrets.ts'
export default withServerCard(createSessions(new MCPServer(config)), ${CARD})`,
  ],
]
