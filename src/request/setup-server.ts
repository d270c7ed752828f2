/** What `setup` changes for one request. */
import { type CompiledTool, compileTool, updateTool } from '../definition/compiled-tool.ts'
import type { Schema } from '../definition/schema.ts'
import { checkUpdate, type RegisterToolConfig, type ToolCallback, toTool } from '../definition/tool.ts'
import type { Context } from './context.ts'
import type { Entry, RequestScope, RequestServer } from './request-server.ts'
import { createToolHandle, type ToolHandle } from './tool-handle.ts'

/** Changes the tools of `scope` alone. */
export class SetupServer implements RequestServer {
  readonly context: Context
  readonly #scope: RequestScope

  constructor(scope: RequestScope) {
    this.context = scope.context
    this.#scope = scope
  }

  get toolNames(): readonly string[] {
    return [...this.#tools.keys()]
  }

  tool(name: string): ToolHandle {
    if (!this.#tools.has(name)) {
      throw new TypeError(
        `Tool "${name}" does not exist: this server has ${this.toolNames.join(', ') || 'none'}.`,
      )
    }
    return this.#handle(name)
  }

  registerTool<Input extends Schema | undefined = undefined, Output extends Schema | undefined = undefined>(
    name: string,
    config: RegisterToolConfig<Input, Output>,
    callback: ToolCallback<Input, Output>,
  ): ToolHandle {
    const overlay = this.#writable()
    if (overlay.has(name))
      throw new TypeError(`Tool "${name}" already exists: use tool("${name}").update(…).`)
    const tool = compileTool(name, toTool(name, config, callback))
    overlay.set(name, { tool, isEnabled: config.enabled !== false })
    return this.#handle(name)
  }

  get #tools(): ReadonlyMap<string, Entry | CompiledTool> {
    return this.#scope.overlay ?? this.#scope.definition.tools
  }

  #writable(): Map<string, Entry> {
    this.#scope.overlay ??= new Map(
      Array.from(this.#scope.definition.tools, ([name, tool]) => [
        name,
        { tool, isEnabled: tool.source.enabled !== false },
      ]),
    )
    return this.#scope.overlay
  }

  #handle(name: string): ToolHandle {
    return createToolHandle(name, {
      isEnabled: () => this.#scope.findTool(name) !== undefined,
      edit: ({ enabled, ...update }) => {
        if (enabled !== undefined) checkUpdate({ enabled })
        const overlay = this.#writable()
        const entry = overlay.get(name)
        if (entry === undefined) throw new TypeError(`Tool "${name}" was removed from this request.`)
        overlay.set(name, {
          isEnabled: enabled ?? entry.isEnabled,
          tool: Object.keys(update).length > 0 ? updateTool(entry.tool, update) : entry.tool,
        })
      },
      remove: () => void this.#writable().delete(name),
    })
  }
}
