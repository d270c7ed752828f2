/**
 * The handle of one tool: what `registerTool` and `setup` change it by.
 */
import type { ToolUpdate } from '../definition/tool.ts'

/** One tool: of the server, until its first request, or of one request. Every method returns the handle, so that calls chain. */
export interface ToolHandle {
  readonly name: string
  readonly enabled: boolean
  enable(): ToolHandle
  disable(): ToolHandle
  /** @throws TypeError for the names that the SDK gives `inputSchema` and `execute`. */
  update(update: ToolUpdate): ToolHandle
  remove(): void
}

/** What a handle does it to. */
export interface ToolEdits {
  isEnabled(): boolean
  /** @throws TypeError where the tool cannot be changed any more. */
  edit(update: ToolUpdate): void
  remove(): void
}

export function createToolHandle(name: string, edits: ToolEdits): ToolHandle {
  const edit = (update: ToolUpdate): ToolHandle => {
    edits.edit(update)
    return handle
  }
  const handle: ToolHandle = {
    name,
    get enabled() {
      return edits.isEnabled()
    },
    enable: () => edit({ enabled: true }),
    disable: () => edit({ enabled: false }),
    update: edit,
    remove: () => edits.remove(),
  }
  return handle
}
