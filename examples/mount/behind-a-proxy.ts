/** A server whose address is not the one it is called by: a proxy serves https://example.com/tools/… from its root. */
import { MCPServer } from 'mayfly-mcp'

export default new MCPServer({
  id: 'proxied',
  name: 'Proxied',
  version: '1.0.0',
  // Forwarded headers can be forged, so they are not read: the page shows what is written here.
  http: { publicUrl: 'https://example.com/tools/mcp' },
})
