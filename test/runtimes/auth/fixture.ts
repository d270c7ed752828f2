/** A shop whose callers an OpenID provider knows. */
import { createTool, MCPServer } from 'mayfly-mcp'
import { jwt } from 'mayfly-mcp/auth'

const who = createTool({
  id: 'who',
  description: 'Says who calls',
  execute: (_input, ctx) => ({ subject: ctx.auth?.subject, scopes: ctx.auth?.scopes }),
})

const refund = createTool({
  id: 'refund',
  description: 'Refunds, for those who may',
  scopes: ['refund'],
  execute: () => 'refunded',
})

export default new MCPServer({
  id: 'shop',
  name: 'Shop',
  version: '1.0.0',
  tools: { who, refund },
  auth: jwt({
    issuer: process.env.ISSUER ?? 'https://issuer.example',
    audience: 'mcp-shop',
    scopes: ['shop'],
    // Tokens of a second expire within two.
    clockToleranceSeconds: 0,
    scopesSupported: ['shop', 'refund'],
  }),
})
