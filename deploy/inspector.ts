/** `mayfly dev --inspector`: the official Inspector, of the user's project, with the server that runs here. */

import { startProcessGroup } from './process-group.ts'
import { resolveBin } from './project-tool.ts'
import { terminal } from './terminal.ts'

const PACKAGE = '@modelcontextprotocol/inspector'

/** Its program. Throws a `CliError` saying how to install it: it is large, and not a dependency of Mayfly. */
export function findInspector(cwd: string): string {
  return resolveBin(PACKAGE, cwd, 'mcp-inspector')
}

/** Starts it with its own page, which it opens itself on a terminal. It ends with the server. */
export function startInspector(program: string, endpoint: string): { stop(): Promise<void> } {
  const args = ['--transport', 'http', '--server-url', endpoint, '--protocol-era', 'auto']
  const isTerminal = process.stderr.isTTY === true
  const env = { ...process.env, ...(!isTerminal && { MCP_AUTO_OPEN_ENABLED: 'false' }) }
  // Its output is for people: stdout has the ready line alone.
  const group = startProcessGroup([program, '--web', ...args], { env, stdio: ['ignore', 2, 2] })
  group.exited.then(
    (code) =>
      code !== 0 && terminal.warn(`the Inspector stopped with exit code ${code}: see its output above`),
    (error: Error) => terminal.warn(`the Inspector cannot be started: ${error.message}`),
  )
  return { stop: () => group.stop() }
}
