/**
 * The request server: one request's view of the frozen definition. Its overlay of enabled, disabled, updated, removed and added
 * tools exists only for this request; no other request can see it.
 */

import type { Definition } from '../definition/compile.ts'
import type { CompiledTool } from '../definition/compiled-tool.ts'
import type { McpContext } from '../definition/context.ts'
import { invalidParams } from '../definition/protocol-error.ts'
import type { Schema } from '../definition/schema.ts'
import type { RegisterToolConfig, ToolCallback } from '../definition/tool.ts'
import { type Access, type Guarded, hidesNames } from './access.ts'
import type { Context } from './context.ts'
import type { ToolHandle } from './tool-handle.ts'

/** What `setup` receives. */
export interface RequestServer<Ctx = McpContext> {
  readonly context: Ctx
  /** The names of the tools this request could see, disabled ones included. */
  readonly toolNames: readonly string[]
  /** @throws TypeError if the tool does not exist. */
  tool(name: string): ToolHandle
  /** Adds a tool for this request. @throws TypeError if the name is taken or an option is unknown; an invalid schema fails the tool's first use. */
  registerTool<Input extends Schema | undefined = undefined, Output extends Schema | undefined = undefined>(
    name: string,
    config: RegisterToolConfig<Input, Output>,
    callback: ToolCallback<Input, Output, Ctx>,
  ): ToolHandle
}

/** A tool of one request. */
export interface Entry {
  readonly tool: CompiledTool
  readonly isEnabled: boolean
}

/** One request's view, as methods read it. */
export class RequestScope {
  declare readonly definition: Definition
  declare readonly context: Context
  /** A copy of the definition's tools, made when `setup` first changes one. */
  overlay: Map<string, Entry> | undefined

  /** Undefined on a server without authentication. */
  readonly #access: Access | undefined

  constructor(definition: Definition, context: Context, access?: Access) {
    this.definition = definition
    this.context = context
    this.#access = access
  }

  /** Whether this caller has less access than others. */
  get isRestricted(): boolean {
    return this.#access !== undefined && (this.#access.isAnonymous || this.definition.hasScopes)
  }

  /** Whether lists can depend on the caller. */
  get hasAccess(): boolean {
    return this.#access !== undefined
  }

  /** Whether this caller may not read what could mention closed names. */
  get hidesNames(): boolean {
    return hidesNames(this.#access, this.definition.hasScopes)
  }

  allows(item: Guarded): boolean {
    return this.#access === undefined || this.#access.allows(item)
  }

  /** `named`: as the client named it. @throws ProtocolError with HTTP 401, or 403 and the scopes that are needed. */
  requireAccess(item: Guarded, named: string = item.name): void {
    if (this.#access === undefined || this.#access.allows(item)) return
    throw this.#access.refusal({ ...item, name: named })
  }

  /** For a name that does not exist. @throws ProtocolError as for a closed one, if this caller is not known. */
  requireKnown(kind: Guarded['kind'], name: string): void {
    const access = this.#access
    if (access === undefined || access.isKnown) return
    const item = { kind, name, scopes: undefined }
    const isHidden = access.isAnonymous ? !access.allows(item) : this.#hasScopes
    if (isHidden) throw access.refusal(item)
  }

  /** Whether this request sees tools that differ from the definition. */
  get isCustomised(): boolean {
    return this.overlay !== undefined
  }

  /** The tool, if this request may call it. */
  findTool(name: string): CompiledTool | undefined {
    if (this.overlay !== undefined) {
      const entry = this.overlay.get(name)
      return entry?.isEnabled ? entry.tool : undefined
    }
    const tool = this.definition.tools.get(name)
    return tool?.source.enabled === false ? undefined : tool
  }

  /** The tool that a client calls. @throws ProtocolError `-32602` for an unknown one, and as `requireAccess`. */
  requireTool(name: string): CompiledTool {
    const tool = this.findTool(name)
    if (tool === undefined) {
      this.requireKnown('tool', name)
      throw invalidParams(`Unknown tool: ${name}`)
    }
    if (this.#access !== undefined) this.requireAccess({ kind: 'tool', name, scopes: tool.source.scopes })
    return tool
  }

  /** The tools this request may see, in order of definition. */
  visibleTools(): CompiledTool[] {
    const enabled =
      this.overlay === undefined
        ? [...this.definition.tools.values()].filter(({ source }) => source.enabled !== false)
        : [...this.overlay.values()].filter(({ isEnabled }) => isEnabled).map(({ tool }) => tool)
    if (!this.isRestricted && !this.isCustomised) return enabled
    return enabled.filter(({ name, source: { scopes } }) => this.allows({ kind: 'tool', name, scopes }))
  }

  /** Whether anything that this request could see needs a scope. */
  get #hasScopes(): boolean {
    if (this.definition.hasScopes) return true
    return Array.from(this.overlay?.values() ?? []).some(({ tool }) => (tool.source.scopes ?? []).length > 0)
  }
}
