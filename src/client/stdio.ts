/** Servers that are processes. Nothing of it is in a bundle: it is loaded when the first one starts. */
import type { Transport } from '@modelcontextprotocol/client'
import { ResponseTooLarge } from './body-limit.ts'
import type { StdioServerConfig } from './config.ts'
import { MCPClientError } from './errors.ts'

/** By a variable, so that no bundler follows: an edge bundle must not contain what starts processes. */
const STDIO_MODULE = 'mayfly-mcp/stdio-client'

/** What of it is used here. */
interface StdioModule {
  createStdioTransport(
    options: StdioServerConfig & { maxLineBytes: number; tooLarge: () => Error },
  ): Transport
}

/** @throws MCPClientError `UNSUPPORTED` where there are no processes, or the package is not installed beside the bundle. */
export async function createStdioTransport(
  server: string,
  config: StdioServerConfig,
  maxLineBytes: number,
): Promise<Transport> {
  const { createStdioTransport: create } = await loadStdio(server)
  return create({ ...config, maxLineBytes, tooLarge: () => new ResponseTooLarge(maxLineBytes) })
}

async function loadStdio(server: string): Promise<StdioModule> {
  try {
    return await import(/* webpackIgnore: true */ /* @vite-ignore */ STDIO_MODULE)
  } catch (cause) {
    throw new MCPClientError(
      'UNSUPPORTED',
      `MCP server "${server}" is a command, and this platform cannot load ${STDIO_MODULE}: give the server a url, or run where there are processes and the package is installed.`,
      { server, operation: 'connect', cause },
    )
  }
}
