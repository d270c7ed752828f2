/** Node: one file that serves until it is told to end. */
import { join } from 'node:path'
import { bundleServer, NODE_BANNER } from '../bundle-server.ts'
import { ownMachine } from '../own-machine.ts'
import { resolveTool } from '../project-tool.ts'
import type { Finding, Project, Target } from '../target.ts'
import { containerFiles } from './container.ts'
import { startDev } from './dev.ts'

const MAIN = `import server from 'mayfly:entry'
import { serve } from 'mayfly-mcp/node'

const { HOST: hostname = '127.0.0.1', PORT: port = '3000' } = process.env
const running = await serve(server, { hostname, port: Number(port) })
console.error(\`listening on \${running.url}\`)
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => running.close().then(() => process.exit(0)))
}
`

const OLDEST_NODE = 20

export const node: Target = {
  title: 'Node',
  defaultPort: 3000,
  limits: ['a call may take as long as its client waits'],
  start: startDev,
  build: async (project, outDir) => {
    const main = 'server.mjs'
    const outfile = join(outDir, main)
    const size = await bundleServer(project, { main: MAIN, outfile, platform: 'node', banner: NODE_BANNER })
    return { main, size, limits: [] }
  },
  preview: (outDir, { port }) => ({
    command: join(outDir, 'server.mjs'),
    args: [],
    cwd: outDir,
    env: { PORT: String(port), HOST: '127.0.0.1' },
  }),
  deployment: (outDir) => ownMachine(`node ${join(outDir, 'server.mjs')}`),
  examine,
  files: ({ name }) => ({
    files: containerFiles(name),
    scripts: { start: 'node dist/node/server.mjs' },
    dependencies: { '@hono/node-server': '^2.1.8' },
    devDependencies: {},
    ignored: [],
  }),
}

async function examine({ cwd }: Project): Promise<Finding[]> {
  const major = Number.parseInt(process.versions.node, 10)
  const version: Finding =
    major >= OLDEST_NODE
      ? { level: 'ok', message: `Node ${process.version}` }
      : {
          level: 'error',
          message: `Node ${process.version} is too old: install Node ${OLDEST_NODE} or newer`,
        }
  try {
    resolveTool('@hono/node-server', cwd)
    return [version, { level: 'ok', message: '@hono/node-server is installed' }]
  } catch {
    return [
      version,
      { level: 'error', message: '@hono/node-server is missing: run npm install @hono/node-server' },
    ]
  }
}
