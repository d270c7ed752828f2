/** Servers that are processes, through the official transport. Nothing of it is in a bundle: it is loaded when the first one starts. */
import type { Transport } from '@modelcontextprotocol/client'
import type { StdioServerConfig } from './config.ts'
import { MCPClientError } from './errors.ts'

/** By a variable, so that no bundler follows: an edge bundle must not contain what starts processes. */
const STDIO_MODULE = '@modelcontextprotocol/client/stdio'

/** @throws MCPClientError `UNSUPPORTED` where there are no processes, or the package is not installed beside the bundle. */
export async function createStdioTransport(server: string, config: StdioServerConfig): Promise<Transport> {
  const { command, args = [], env, cwd, stderr = 'inherit' } = config
  const { StdioClientTransport } = await loadStdio(server)
  return new StdioClientTransport({
    command,
    args: [...args],
    stderr,
    ...(env !== undefined && { env: { ...env } }),
    ...(cwd !== undefined && { cwd }),
  })
}

async function loadStdio(server: string): Promise<typeof import('@modelcontextprotocol/client/stdio')> {
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
