/** `mayfly dev --target node`: like other platforms, but with source maps, and packages are imported from where they are installed. */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { RunningTarget, StartOptions } from '../../contract/target.ts'
import { ownModule } from '../../project/own-module.ts'
import { resolveTool } from '../../project/project-tool.ts'
import { artefactDev } from '../artefact-dev.ts'
import { bundleForNode } from './bundle.ts'

const HOST = ownModule('deploy/targets/node/host')

const MAIN = 'server.mjs'

const startBundles = artefactDev({
  build: ({ entry, cwd }, outDir) => bundleForNode(entry, cwd, join(outDir, MAIN)),
  preview: (outDir, { port, project: { cwd, entry } }) => ({
    command: HOST,
    args: [join(outDir, MAIN), entry],
    cwd,
    env: { PORT: String(port) },
  }),
})

export async function startDev(options: StartOptions): Promise<RunningTarget> {
  // The adapter imports it from where Mayfly is installed.
  resolveTool('@hono/node-server', fileURLToPath(new URL('.', import.meta.url)))
  return startBundles(options)
}
