/** A client of Events, as bare as the wire. */
import { TOKEN } from './_token.ts'

export type Send = (method: string, params: object) => Promise<Record<string, unknown>>

/** @returns what sends a request, and resolves with its result. */
export function createWire(url: URL): Send {
  let id = 0
  return async (method, params) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${TOKEN}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2025-11-25',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params }),
    })
    // A slow answer is a stream.
    const text = await response.text()
    const { result, error } = JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text) as {
      result?: Record<string, unknown>
      error?: unknown
    }
    if (result === undefined) throw new Error(JSON.stringify(error))
    return result
  }
}

/** Calls a tool, and resolves with its text. @throws Error with the text, if the tool failed. */
export async function callTool(send: Send, name: string, args: object): Promise<string> {
  const { content, isError } = (await send('tools/call', { name, arguments: args })) as {
    content: [{ text: string }]
    isError?: boolean
  }
  if (isError === true) throw new Error(content[0].text)
  return content[0].text
}
