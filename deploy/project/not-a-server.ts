/** What a default export is that is not a server, and what to write instead: for messages. */
import { memberOf } from '../../src/definition/error-text.ts'
import { isApp, shapeOf } from '../../src/sdk/app-shape.ts'

/** `it is a promise: ...`. Looks at values of user code, so it runs in the process of that code. */
export function whatToWrite(exported: unknown): string {
  const has = (name: string): boolean => typeof memberOf(exported, name) === 'function'
  if (has('then')) return 'it is a promise: write await after export default'
  if (typeof exported === 'function') return whatToWriteFor(exported)
  if (
    has('setRequestHandler') ||
    typeof memberOf(memberOf(exported, 'server'), 'setRequestHandler') === 'function'
  )
    return 'it is a server of an official SDK: write export default fromSdk(() => createServer()), with fromSdk of mayfly-mcp/sdk and a function that makes a new server'
  if (has('listen') && has('address'))
    return 'it is a Node server: write export default fromNode(...) with its handler, and fromNode of mayfly-mcp/from-node'
  if (has('execute'))
    return 'it is a tool: write export default new MCPServer({ name, version, tools: { ... } })'
  const framework = shapeOf(exported)
  if (framework !== undefined)
    return `it is ${framework.name}: write export default fromNode(${framework.instead}, { mcpPath: '/mcp' }), with fromNode of mayfly-mcp/from-node`
  return `it is ${kindOf(exported)}: write export default new MCPServer({ ... }), or fromSdk(() => ...) for a server of an official SDK`
}

function whatToWriteFor(exported: object): string {
  if (isApp(exported))
    return "it is an app of Express or Connect: write export default fromNode(app, { mcpPath: '/mcp' }), with fromNode of mayfly-mcp/from-node"
  if (/^class\b/.test(sourceOf(exported))) return 'it is a class: write export default new before it'
  if (Number(memberOf(exported, 'length')) >= 2)
    return 'it is a function: if it is a Node handler, write export default fromNode(handler), with fromNode of mayfly-mcp/from-node'
  return 'it is a function: export what it returns, or write fromSdk(() => ...) if that is a server of an official SDK'
}

function sourceOf(exported: object): string {
  try {
    return Function.prototype.toString.call(exported)
  } catch {
    return ''
  }
}

function kindOf(exported: unknown): string {
  if (exported === null || exported === undefined) return String(exported)
  if (typeof exported !== 'object') return `a ${typeof exported}`
  try {
    return Array.isArray(exported) ? 'a list' : 'an object'
  } catch {
    return 'an object'
  }
}
