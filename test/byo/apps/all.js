/** All apps behind one endpoint, since each build takes seconds: a header names the app. */
import { fromNode } from 'mayfly-mcp/from-node'

const apps = {
  'express-5': () => import('./express-5.js'),
  'express-4': () => import('./express-4.js'),
  fastify: () => import('./fastify.js'),
  koa: () => import('./koa.js'),
  connect: () => import('./connect.js'),
  nest: () => import('./nest.js'),
  h3: () => import('./h3.js'),
  'h3-1': () => import('./h3-1.js'),
}

export default fromNode(
  async (req, res) => {
    const { default: app } = await apps[req.headers['x-app'] ?? 'express-5']()
    return app(req, res)
  },
  { mcpPath: '/mcp' },
)
