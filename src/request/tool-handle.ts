/**
 * The handle of one tool, with which `registerTool` and `setup` change it.
 */
import type { ToolUpdate } from '../definition/tool.ts'

/** One tool of a request, or of the server before its first request. All methods except `remove` return it. */
export interface ToolHandle {
  readonly name: string
  readonly enabled: boolean
  /** Shows the tool to clients and lets them call it. */
  enable(): ToolHandle
  /** Hides the tool: clients can neither see nor call it. */
  disable(): ToolHandle
  /** @throws TypeError for the names that the SDK uses for `inputSchema` and `execute`. */
  update(update: ToolUpdate): ToolHandle
  /** Removes the tool. */
  remove(): void
}

/** The changes that a handle makes. */
export interface ToolEdits {
  isEnabled(): boolean
  /** @throws TypeError if the tool can no longer be changed. */
  edit(update: ToolUpdate): void
  remove(): void
}

export function createToolHandle(name: string, edits: ToolEdits): ToolHandle {
  return new EditingHandle(name, edits)
}

class EditingHandle implements ToolHandle {
  readonly name: string
  readonly #edits: ToolEdits

  constructor(name: string, edits: ToolEdits) {
    this.name = name
    this.#edits = edits
  }

  get enabled(): boolean {
    return this.#edits.isEnabled()
  }

  // Properties, so that each can be passed on without its object.
  readonly update = (update: ToolUpdate): ToolHandle => {
    this.#edits.edit(update)
    return this
  }
  readonly enable = (): ToolHandle => this.update({ enabled: true })
  readonly disable = (): ToolHandle => this.update({ enabled: false })
  readonly remove = (): void => this.#edits.remove()
}
