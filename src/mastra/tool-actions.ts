/** `toolActions`: adds and removes the tools of a server that is running, as Mastra's does. */
import { type AnyTool, checkToolMembers } from '../definition/tool.ts'
import { checkToolShape } from '../definition/tool-mistakes.ts'
import { type ToolsInput, toNativeTool } from './server-config.ts'

/** Changes the tools in this process or isolate, from the next request on, and notifies the clients that listen. */
export interface ToolActions {
  /** Adds tools, or replaces those with the same key, whose `scopes` remain. @throws TypeError for an invalid tool, and for one with `scopes` or `task`. */
  add(tools: ToolsInput): Promise<void>
  /** Removes tools by key; unknown ones are ignored. */
  remove(toolIds: readonly string[]): Promise<void>
  /** Only notifies. */
  notifyListChanged(): Promise<void>
}

/** What is protected or kept by tasks is known when the server is created: nothing opens it later. */
const FIXED = ['scopes', 'task'] as const

export function createToolActions(
  notifyListChanged: () => Promise<void>,
  changeTools: (change: (tools: Map<string, AnyTool>) => void) => void,
): ToolActions {
  return {
    async add(tools) {
      const added = Object.entries(tools).map(([name, given]) => {
        const tool = toNativeTool(name, given)
        checkToolShape(name, tool)
        checkToolMembers(name, tool)
        for (const option of FIXED) {
          if (tool[option] !== undefined)
            throw new TypeError(`Tool "${name}" has "${option}": pass it in "tools" of the MCPServer.`)
        }
        return [name, tool] as const
      })
      changeTools((all) => {
        for (const [name, tool] of added) {
          const scopes = all.get(name)?.scopes
          all.set(name, scopes === undefined ? tool : { ...tool, scopes })
        }
      })
      await notifyListChanged()
    },
    async remove(toolIds) {
      let isChanged = false
      changeTools((all) => {
        for (const id of toolIds) isChanged = all.delete(id) || isChanged
      })
      if (isChanged) await notifyListChanged()
    },
    notifyListChanged,
  }
}
