/** Servers that are processes. The code is loaded when the first one starts, so bundles do not contain it. */
import type { Transport } from '@modelcontextprotocol/client'
import { present } from '../definition/present.ts'
import { ResponseTooLarge } from './body-limit.ts'
import type { StdioServerConfig } from './config.ts'
import { MCPClientError } from './errors.ts'

/** In a variable, so that bundlers do not follow it: an edge bundle must not contain code that starts processes. */
const STDIO_MODULE = 'mayfly-mcp/stdio-client'

/** The part of the module that is used here. */
interface StdioModule {
  createStdioTransport(
    options: StdioServerConfig & { maxLineBytes: number; tooLarge: () => Error },
  ): Transport
}

/** @throws MCPClientError `UNSUPPORTED` if the platform has no processes, or the package is not installed next to the bundle. */
export async function createStdioTransport(
  server: string,
  config: StdioServerConfig,
  maxLineBytes: number,
): Promise<Transport> {
  const { createStdioTransport: create } = await loadStdio(server)
  const { command, args, env, cwd, stderr } = config
  const given = present<StdioServerConfig>({ command, args, env, cwd, stderr })
  return create({ ...given, maxLineBytes, tooLarge: () => new ResponseTooLarge(maxLineBytes) })
}

async function loadStdio(server: string): Promise<StdioModule> {
  try {
    return await import(/* webpackIgnore: true */ /* @vite-ignore */ STDIO_MODULE)
  } catch (cause) {
    throw new MCPClientError(
      'UNSUPPORTED',
      `MCP server "${server}" is a command, and this platform cannot load ${STDIO_MODULE}: give the server a url, or use a platform with processes and install the package.`,
      { server, operation: 'connect', cause },
    )
  }
}
