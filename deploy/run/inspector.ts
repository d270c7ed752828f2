/** `mayfly dev --inspector`: the official Inspector (version 2) of the user's project, connected to the local server. */

import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { textOf } from '../../src/definition/error-text.ts'
import { resolveBin } from '../project/project-tool.ts'
import { terminal } from '../terminal/terminal.ts'
import { atExit } from './ending.ts'
import { openInBrowser } from './open-browser.ts'
import { freePort, untilListening } from './port.ts'
import { startProcessGroup } from './process-group.ts'

const PACKAGE = '@modelcontextprotocol/inspector'

/** Finds its program. Throws a `CliError` that says how to install it: it is large, so Mayfly does not depend on it. */
export function findInspector(cwd: string): string {
  return resolveBin(PACKAGE, cwd, 'mcp-inspector')
}

/**
 * Starts it and prints its address on stderr; on a terminal, also opens its page. It ends with the server. Reports a failure without
 * ending the server.
 *
 * @param program What `findInspector` found.
 * @param endpoint The URL of the MCP endpoint.
 */
export function startInspector(program: string, endpoint: string): { stop(): Promise<void> } {
  const ended = new AbortController()
  const started = start(program, endpoint, ended.signal)
  started.catch((error: unknown) => {
    if (!ended.signal.aborted) terminal.warn(`the Inspector cannot be started: ${textOf(error)}`)
  })
  return {
    stop: async () => {
      ended.abort()
      const stop = await started.catch(() => undefined)
      await stop?.()
    },
  }
}

/** Resolves with a function that ends it. */
async function start(program: string, endpoint: string, ended: AbortSignal): Promise<() => Promise<void>> {
  const [port, sandboxPort] = [await freePort(0), await freePort(0)]
  const token = randomBytes(32).toString('hex')
  // Uses a separate server list: the user's list would be changed, and a fixed list cannot be connected by URL.
  const folder = mkdtempSync(join(tmpdir(), 'mayfly-inspector-'))
  const forget = atExit(() => rmSync(folder, { recursive: true, force: true }))
  const catalog = join(folder, 'servers.json')
  writeFileSync(catalog, '{ "mcpServers": {} }')
  const env = {
    ...process.env,
    CLIENT_PORT: String(port),
    MCP_SANDBOX_PORT: String(sandboxPort),
    MCP_INSPECTOR_API_TOKEN: token,
    // The Inspector would open its page without the connection.
    MCP_AUTO_OPEN_ENABLED: 'false',
  }
  // Its output contains an address without the connection.
  const group = startProcessGroup([program, '--web', '--catalog', catalog], { env, stdio: 'ignore' })
  const stopped = new AbortController()
  group.exited.then(
    (code) => {
      stopped.abort()
      if (!ended.aborted) terminal.warn(`the Inspector stopped with exit code ${code}: run npx ${PACKAGE}`)
    },
    () => stopped.abort(),
  )
  const query = new URLSearchParams({
    MCP_INSPECTOR_API_TOKEN: token,
    serverUrl: endpoint,
    transport: 'http',
    autoConnect: token,
  })
  untilListening(port, AbortSignal.any([ended, stopped.signal])).then(
    () => {
      const address = `http://127.0.0.1:${port}/?${query}`
      terminal.show(`  Inspector   ${address}\n\n`)
      if (process.stderr.isTTY) openInBrowser(address)
    },
    () => {},
  )
  return async () => {
    await group.stop()
    forget()
    rmSync(folder, { recursive: true, force: true })
  }
}
