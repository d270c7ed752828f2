/** `mayfly dev --target node`: bundles the entry, serves it with the Node adapter, replaces it on change. */
import { fileURLToPath } from 'node:url'
import { untilAnswers } from '../probe.ts'
import { resolveTool } from '../project-tool.ts'
import type { RunningTarget, StartOptions } from '../target.ts'
import { watchBundle } from './bundle.ts'
import { ReloadingServer } from './reloading-server.ts'

export async function startDev(options: StartOptions): Promise<RunningTarget> {
  const { entry, cwd, port } = options
  // The adapter imports it, from where Mayfly is installed.
  resolveTool('@hono/node-server', fileURLToPath(new URL('.', import.meta.url)))

  const server = new ReloadingServer(options, (line) => process.stderr.write(`mayfly: ${line}\n`))
  const watch = await watchBundle(entry, cwd, (build) => server.take(build))
  const ended = new AbortController()
  let reportExit = (_code: number): void => {}
  const exited = new Promise<number>((resolve) => {
    reportExit = resolve
  })
  return {
    ready: server.listening.then(() => untilAnswers(`http://127.0.0.1:${port}/mcp`, ended.signal)),
    // A server that ends by itself is waited for: the next change may mend it.
    exited,
    stop: async () => {
      ended.abort()
      await watch.dispose()
      await server.stop()
      reportExit(0)
    },
  }
}
