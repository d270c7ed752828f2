/** Targets whose server is only `export default server`, run as the documentation of each runtime says, without an adapter. */
import { join } from 'node:path'
import { bundleServer, NODE_BANNER } from '../../deploy/build/bundle-server.ts'
import type { Launch, PreviewOptions, Target } from '../../deploy/contract/target.ts'
import { resolveBin } from '../../deploy/project/project-tool.ts'
import { DENO_OFFLINE, DENO_RUN } from '../../deploy/targets/deno/program.ts'

type Runnable = Pick<Target, 'build' | 'preview'>

const MAIN = "export { default } from 'mayfly:entry'\n"

export const plainBun = plain('bun', (file, { port, project }) => ({
  command: resolveBin('bun', project.cwd),
  args: ['run', file],
  cwd: project.cwd,
  env: { BUN_PORT: String(port) },
}))

export const plainDeno = plain('deno', (file, { port, project }) => ({
  command: resolveBin('deno', project.cwd),
  args: ['serve', ...DENO_RUN.slice(1), '--host', '127.0.0.1', '--port', String(port), file],
  cwd: project.cwd,
  env: DENO_OFFLINE,
}))

function plain(runtime: string, run: (file: string, options: PreviewOptions) => Launch): Runnable {
  return {
    build: async (project, outDir) => {
      const outfile = join(outDir, 'server.js')
      const banner = runtime === 'deno' ? { banner: NODE_BANNER } : {}
      const { size } = await bundleServer(project, {
        main: MAIN,
        outfile,
        platform: 'node',
        conditions: [runtime],
        ...banner,
      })
      return { main: 'server.js', size, limits: [] }
    },
    preview: (outDir, options) => run(join(outDir, 'server.js'), options),
  }
}
