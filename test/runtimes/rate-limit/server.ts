/** Counted by Cloudflare's binding where there is one. */
import { MCPServer } from 'mayfly-mcp'
import { bindingRateLimiter, type RateLimitBinding } from 'mayfly-mcp/cloudflare'

export default new MCPServer({
  id: 'limited',
  name: 'Limited',
  version: '1.0.0',
  http: {
    rateLimiter: ({ LIMITER }) => (LIMITER ? bindingRateLimiter(LIMITER as RateLimitBinding) : undefined),
  },
})
