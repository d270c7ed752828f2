/** An `MCPClient` as an agent has it: all it remembers between two acts is the storage of its sign-in. */
import { createOAuthProvider, MCPClient, MCPClientError } from '../../../src/client.ts'

export const REDIRECT = 'http://127.0.0.1:9/callback'

export interface Order {
  readonly url: string
  /** What the last act left. */
  readonly stored: readonly (readonly [key: string, value: string])[]
  /** The URL to which the browser came back: the sign-in is finished with it. Undefined: the tool is called. */
  readonly callback?: string | undefined
}

export interface Outcome {
  readonly stored: [key: string, value: string][]
  /** Of the tool. */
  readonly answer?: unknown
  /** The code of the error. */
  readonly error?: string
  readonly message?: string
  /** Where the person is to sign in. */
  readonly signInAt?: string
}

export async function act(order: Order, send?: typeof fetch): Promise<Outcome> {
  const storage = new Map(order.stored)
  let signInAt: string | undefined
  const authProvider = createOAuthProvider({
    storage,
    redirectUrl: REDIRECT,
    clientMetadata: { client_name: 'Editor' },
    onRedirect: (url) => {
      signInAt = url.href
    },
  })
  const notes = { url: order.url, authProvider, ...(send !== undefined && { fetch: send }) }
  const id = crypto.randomUUID()
  const client = new MCPClient({ id, servers: { notes }, onError: () => {}, timeoutMs: 60_000 })
  const stored = () => [...storage]
  try {
    if (order.callback !== undefined) {
      await client.finishAuth('notes', new URL(order.callback).searchParams)
      return { stored: stored() }
    }
    const { structuredContent } = await client.callTool('notes', 'who')
    return { stored: stored(), answer: structuredContent }
  } catch (error) {
    if (!(error instanceof MCPClientError)) throw error
    const { code, message } = error
    return { stored: stored(), error: code, message, ...(signInAt !== undefined && { signInAt }) }
  } finally {
    await client.disconnect()
  }
}
