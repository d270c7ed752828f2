/** The official SDK v1 client, which opens its GET stream by itself, and again whenever it ends; it writes down what it hears. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'

export interface LegacyListener extends AsyncDisposable {
  readonly client: Client
  /** URIs of updated resources, and the methods of other notifications. */
  readonly heard: string[]
  /** Ends the session by DELETE. */
  end(): Promise<void>
}

/** Resolves once its stream is open: the head of the answer comes when changes are listened to. */
export async function connectLegacyListener(url: URL): Promise<LegacyListener> {
  const client = new Client({ name: 'legacy', version: '1.0.0' })
  const heard: string[] = []
  client.fallbackNotificationHandler = async ({ method, params }) =>
    void heard.push(String(params?.uri ?? method))
  const reconnectionOptions = {
    initialReconnectionDelay: 50,
    maxReconnectionDelay: 50,
    reconnectionDelayGrowFactor: 1,
    maxRetries: 100,
  }
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  const transport = new StreamableHTTPClientTransport(url, {
    reconnectionOptions,
    fetch: async (input, init) => {
      const response = await fetch(input, init)
      if (init?.method === 'GET' && response.ok) open()
      return response
    },
  })
  // A cast at the SDK's own boundary: its transport class is not its Transport under exactOptionalPropertyTypes.
  await client.connect(transport as Transport)
  await opened
  return {
    client,
    heard,
    end: () => transport.terminateSession(),
    [Symbol.asyncDispose]: () => client.close(),
  }
}
