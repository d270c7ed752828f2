/** `mayfly dev --target node`: bundles the entry, serves it with the Node adapter, replaces it on change. */
import { fileURLToPath } from 'node:url'
import { startFront } from '../front.ts'
import { untilAnswers } from '../probe.ts'
import { resolveTool } from '../project-tool.ts'
import type { RunningTarget, StartOptions } from '../target.ts'
import { terminal } from '../terminal.ts'
import { watchBundle } from './bundle.ts'
import { ReloadingServer } from './reloading-server.ts'

export async function startDev(options: StartOptions): Promise<RunningTarget> {
  const { entry, cwd, port, path = '/mcp' } = options
  // The adapter imports it, from where Mayfly is installed.
  resolveTool('@hono/node-server', fileURLToPath(new URL('.', import.meta.url)))

  const front = await startFront(port)
  const server = new ReloadingServer(options, front, terminal.warn)
  const watch = await watchBundle(entry, cwd, (build) => server.take(build))
  const ended = new AbortController()
  let reportExit = (_code: number): void => {}
  const exited = new Promise<number>((resolve) => {
    reportExit = resolve
  })
  return {
    path,
    ready: server.listening.then(() => untilAnswers(`http://127.0.0.1:${port}${path}`, ended.signal)),
    // A server that ends by itself is waited for: the next change may mend it.
    exited,
    stop: async () => {
      ended.abort()
      const stopped = server.stop()
      await Promise.all([front.close(stopped), watch.dispose(), stopped])
      reportExit(0)
    },
  }
}
