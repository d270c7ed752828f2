/** The interface to what `mayfly dev`, `mayfly preview` and `mayfly-mcp/testing` add to a process. In production there is nothing. */
import type { AnyTool } from '../definition/tool.ts'
import type { Context } from './context.ts'

export interface Development {
  /** Runs a tool, and watches it. */
  runTool(name: string, execute: AnyTool['execute'], context: Context, run: () => unknown): unknown
}

/** The name of the global variable: the server may be in a bundle of its own. */
export const DEVELOPMENT = 'mayfly-mcp.development'

export function development(): Development | undefined {
  return (globalThis as { [DEVELOPMENT]?: Development })[DEVELOPMENT]
}
