/** Node: a program that serves until a signal ends it. */

import { join } from 'node:path'
import { bundleServer, NODE_BANNER } from '../../build/bundle-server.ts'
import { abilitiesOf } from '../../contract/abilities.ts'
import type { Finding, Project, Target } from '../../contract/target.ts'
import { resolveTool } from '../../project/project-tool.ts'
import { END_WITH_SCRIPT, ownMachine } from '../self-hosted.ts'
import { containerFiles } from './container.ts'
import { startDev } from './dev.ts'
import { LOAD_BANNER, LOADED } from './load-banner.ts'

const MAIN = `import server from 'mayfly:entry'
import { serve } from 'mayfly-mcp/node'

${LOADED}
const { HOST: hostname = '127.0.0.1', PORT: port = '3000' } = process.env
const running = await serve(server, { hostname, port: Number(port) }).catch(({ code, message }) => {
  const isAddress = code !== undefined || message.startsWith('"port"')
  console.error(isAddress ? \`cannot listen on HOST \${hostname}, PORT \${port} (\${code ?? message})\${code === 'EADDRINUSE' ? ': is the port in use?' : ''}\` : message)
  process.exit(1)
})
if (!process.env.MAYFLY_LOCAL) console.error(\`listening on \${running.url}\`)
const stop = () => running.close().then(() => process.exit(0))
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, stop)
${END_WITH_SCRIPT}`

export const node: Target = {
  title: 'Node',
  ...abilitiesOf('node'),
  defaultPort: 3000,
  limits: ['a call may take as long as its client waits'],
  start: startDev,
  build: async (project, outDir) => {
    const main = 'server.mjs'
    const outfile = join(outDir, main)
    const { size } = await bundleServer(project, {
      main: MAIN,
      outfile,
      platform: 'node',
      banner: NODE_BANNER + LOAD_BANNER,
      sourceMap: 'linked',
      isSplit: true,
    })
    return { main, size, limits: [] }
  },
  preview: (outDir, { port }) => ({
    command: join(outDir, 'server.mjs'),
    args: [],
    cwd: outDir,
    env: { PORT: String(port), HOST: '127.0.0.1', MAYFLY_LOCAL: '1' },
  }),
  isOwnMachine: true,
  deployment: (outDir) => ownMachine(`node ${join(outDir, 'server.mjs')}`),
  examine,
  files: ({ name, hasTasks = false, hasEvents = false }) => ({
    files: containerFiles(name, hasTasks || hasEvents),
    // Since Node 20.19. Does not override variables that are already set.
    scripts: { start: 'node --env-file-if-exists=.env dist/node/server.mjs' },
    // Its peer dependency, which yarn does not install by itself.
    dependencies: { '@hono/node-server': '^2.1.8', hono: '^4.13.19' },
    devDependencies: {},
    ignored: [],
  }),
}

async function examine({ cwd }: Project): Promise<Finding[]> {
  try {
    resolveTool('@hono/node-server', cwd)
    return [{ level: 'ok', message: '@hono/node-server is installed' }]
  } catch {
    return [{ level: 'error', message: '@hono/node-server is missing: run npm install @hono/node-server' }]
  }
}
