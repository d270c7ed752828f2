/**
 * The conformance fixture on the official SDK v2: what `fromSdk` is measured by is the same server behind that SDK's own handler.
 */
import {
  completable,
  createRequestStateCodec,
  InMemoryServerEventBus,
  McpServer,
  ResourceTemplate,
} from '@modelcontextprotocol/server'
import * as z from 'zod'
import { PNG } from '../../../examples/everything/media.ts'
import { registerAskingPrompt, registerAskingTools } from './asking.ts'
import { registerTools } from './tools.ts'

/** Of no value outside the suite. */
const KEY = new TextEncoder().encode('of-no-value-outside-the-conformance-suite')

/** Shared by all requests, as `subscriptions/listen` needs it. */
export const bus = new InMemoryServerEventBus()

const states = createRequestStateCodec<Record<string, unknown>>({ key: KEY })

export type States = typeof states

export function createServer(): McpServer {
  const server = new McpServer(
    { name: 'everything', version: '1.0.0' },
    {
      capabilities: {
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { listChanged: true, subscribe: true },
        logging: {},
        completions: {},
      },
      requestState: { verify: states.verify },
    },
  )
  registerTools(server, bus)
  registerAskingTools(server, states)
  registerResources(server)
  registerPrompts(server)
  registerAskingPrompt(server)
  return server
}

function registerResources(server: McpServer): void {
  const text = (name: string, uri: string, content: string): void => {
    server.registerResource(name, uri, { description: name, mimeType: 'text/plain' }, ({ href }) => ({
      contents: [{ uri: href, mimeType: 'text/plain', text: content }],
    }))
  }
  text('Static Text Resource', 'test://static-text', 'This is the content of the static text resource.')
  text('Watched Resource', 'test://watched-resource', 'Watched resource content')
  server.registerResource(
    'Static Binary Resource',
    'test://static-binary',
    { description: 'A static image', mimeType: 'image/png' },
    ({ href }) => ({ contents: [{ uri: href, mimeType: 'image/png', blob: PNG }] }),
  )
  server.registerResource(
    'Resource Template',
    new ResourceTemplate('test://template/{id}/data', { list: undefined }),
    { description: 'Data by id', mimeType: 'application/json' },
    ({ href }, { id }) => ({
      contents: [
        {
          uri: href,
          mimeType: 'application/json',
          text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${String(id)}` }),
        },
      ],
    }),
  )
  for (const method of ['resources/subscribe', 'resources/unsubscribe'] as const) {
    server.server.setRequestHandler(method, async () => ({}))
  }
}

function registerPrompts(server: McpServer): void {
  const says = (text: string) => ({ role: 'user' as const, content: { type: 'text' as const, text } })
  server.registerPrompt('test_simple_prompt', { description: 'A simple prompt' }, () => ({
    messages: [says('This is a simple prompt for testing.')],
  }))
  server.registerPrompt(
    'test_prompt_with_arguments',
    {
      description: 'A prompt with required arguments',
      argsSchema: z.object({
        arg1: completable(z.string().describe('First test argument'), (value) =>
          ['paris', 'park', 'party'].filter((word) => word.startsWith(value)),
        ),
        arg2: z.string().describe('Second test argument'),
      }),
    },
    ({ arg1, arg2 }) => ({ messages: [says(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)] }),
  )
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { description: 'A prompt that includes a resource', argsSchema: z.object({ resourceUri: z.string() }) },
    ({ resourceUri: uri }) => ({
      messages: [
        {
          role: 'user',
          content: {
            type: 'resource',
            resource: { uri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' },
          },
        },
        says('Please process the embedded resource above.'),
      ],
    }),
  )
  server.registerPrompt('test_prompt_with_image', { description: 'A prompt with an image' }, () => ({
    messages: [
      { role: 'user', content: { type: 'image', data: PNG, mimeType: 'image/png' } },
      says('Please analyze the image above.'),
    ],
  }))
}
