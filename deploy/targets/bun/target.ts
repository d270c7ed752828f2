/** Bun: a program that serves until a signal ends it. */

import { join } from 'node:path'
import { textOf } from '../../../src/definition/error-text.ts'
import { bundleServer, NODE_BANNER } from '../../build/bundle-server.ts'
import { abilitiesOf } from '../../contract/abilities.ts'
import type { Project, Target } from '../../contract/target.ts'
import { findProgram, resolveBin } from '../../project/project-tool.ts'
import { WATCHER } from '../../run/watcher.ts'
import { CliError } from '../../terminal/cli-error.ts'
import { artefactDev } from '../artefact-dev.ts'
import { END_WITH_SCRIPT, ownMachine } from '../self-hosted.ts'

const MAIN = `import server from 'mayfly:entry'
import { serve } from 'mayfly-mcp/bun'

const { HOST: hostname = '127.0.0.1', PORT: port = '3000' } = process.env
const start = () => {
  try {
    return serve(server, { hostname, port: Number(port) })
  } catch ({ message }) {
    console.error(message)
    process.exit(1)
  }
}
const running = start()
if (!process.env.MAYFLY_LOCAL) console.error(\`listening on \${running.url}\`)
const stop = () => running.close().then(() => process.exit(0))
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, stop)
${END_WITH_SCRIPT}`

/**
 * As `bun build` marks its files: Bun runs them as they are. Otherwise it parses and prints the whole bundle before it runs it, a third of the
 * processor's time until the first answer. To such a file it adds no `require`, `__filename` and `__dirname`.
 */
const BUNDLED = '// @bun\n'

const artefact: Pick<Target, 'build' | 'preview'> = {
  build: async (project, outDir) => {
    const main = 'server.js'
    const outfile = join(outDir, main)
    const { size } = await bundleServer(project, {
      main: MAIN,
      outfile,
      platform: 'node',
      conditions: ['bun'],
      banner: BUNDLED + NODE_BANNER,
      isSplit: true,
    })
    return { main, size, limits: [] }
  },
  preview: (outDir, { port, project }) => ({
    command: bunProgram(project),
    args: ['run', '--preload', WATCHER, join(outDir, 'server.js')],
    cwd: outDir,
    env: { PORT: String(port), HOST: '127.0.0.1', MAYFLY_LOCAL: '1' },
  }),
}

export const bun: Target = {
  title: 'Bun',
  ...abilitiesOf('bun'),
  defaultPort: 3000,
  marks: { files: ['bunfig.toml'], lockfiles: ['bun.lock', 'bun.lockb'] },
  limits: ['a call may take as long as its client waits'],
  start: artefactDev(artefact),
  ...artefact,
  isOwnMachine: true,
  deployment: (outDir) => ownMachine(`bun run ${join(outDir, 'server.js')}`),
  examine: async (project) => {
    try {
      return [{ level: 'ok', message: `bun found: ${bunProgram(project)}` }]
    } catch (error) {
      return [{ level: 'error', message: textOf(error) }]
    }
  },
  files: () => ({
    files: {},
    scripts: { start: 'bun run dist/bun/server.js' },
    dependencies: {},
    devDependencies: { bun: '^1.4.5' },
    ignored: [],
  }),
}

/** The project's `bun`, otherwise the one on the PATH. Throws `CliError`. */
function bunProgram({ cwd }: Project): string {
  const installed = findProgram('bun')
  try {
    return resolveBin('bun', cwd)
  } catch {
    if (installed !== undefined) return installed
    throw new CliError('bun is not installed: run npm install --save-dev bun, or see https://bun.com')
  }
}
