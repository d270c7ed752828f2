/** The methods that may ask (MCP 2026-07-28, "Multi Round-Trip Requests", "Supported Requests"), and the parameter with their target. */
export const TARGET: { readonly [method: string]: 'name' | 'uri' } = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
}

export function canAsk(method: string): boolean {
  return Object.hasOwn(TARGET, method)
}
