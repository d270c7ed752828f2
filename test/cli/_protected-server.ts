/** A server of tokens that are given out beforehand, for `mayfly dev` on any target. */
import { staticTokens } from '../../src/auth.ts'
import { createTool, MCPServer } from '../../src/index.ts'

const greet = createTool({ id: 'greet', description: 'Greets', execute: () => 'Hello' })

export default new MCPServer({
  id: 'shop',
  name: 'Shop',
  version: '1.2.3',
  tools: { greet },
  auth: staticTokens([{ token: 'the-right-token-of-the-test', clientId: 'desk' }]),
})
