/** A server that is listened to, and a bus that knows how many listen. */
import {
  type Bus,
  createMemoryBus,
  createPrompt,
  createResource,
  createTool,
  type MCPServerConfig,
} from '../../src/index.ts'
import { createServer, META, modernRequest, type SendOptions, StreamReader } from './_client.ts'

export const everything: Partial<MCPServerConfig> = {
  tools: { t: createTool({ id: 't', execute: () => '' }) },
  prompts: { p: createPrompt({ get: () => '' }) },
  resources: [createResource({ uri: 'a://1', read: () => '' })],
}

export const ALL = {
  toolsListChanged: true,
  promptsListChanged: true,
  resourcesListChanged: true,
  resourceSubscriptions: ['a://1', 'a://2'],
}

/** A memory bus that knows how many listen. */
export function countingBus(): Bus & { listeners: number } {
  const bus = createMemoryBus()
  const counting = {
    listeners: 0,
    publish: bus.publish,
    async subscribe(listener: Parameters<Bus['subscribe']>[0]) {
      const unsubscribe = await bus.subscribe(listener)
      counting.listeners++
      return () => {
        counting.listeners--
        unsubscribe()
      }
    },
  }
  return counting
}

export function fixture(config: Partial<MCPServerConfig> = {}) {
  const bus = countingBus()
  const server = createServer({ ...everything, bus, ...config })
  const listen = async (notifications: unknown = ALL, options: SendOptions = {}) => {
    const request = modernRequest('subscriptions/listen', { notifications }, { id: 'sub-1', ...options })
    const response = await server.handle(request, options.platform ?? {})
    return { response, stream: new StreamReader(response) }
  }
  return { bus, server, listen }
}

export const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged'
export const OURS = { [META.subscriptionId]: 'sub-1' }
