/** What knows the headers of a call. */
import type { CompiledTool } from '../definition/compiled-tool.ts'

export interface HeaderCheck {
  /** `Mcp-Param-*`. @throws ProtocolError `-32020`, HTTP 400. */
  checkHeaders(tool: CompiledTool): void
  /** A present `Mcp-Name` must repeat the parameter. @throws ProtocolError `-32020`, HTTP 400. */
  checkName(parameter: string): void
}
