/** A server that uses every part that is loaded at its first use, on any runtime. */
import {
  createMemoryBus,
  createPrompt,
  createResource,
  createTool,
  jsonSchema,
  MCPServer,
} from '../../src/index.ts'

const NAME = jsonSchema({ type: 'object', properties: { name: { type: 'string' } }, required: ['name'] })

const plain = createTool({ id: 'plain', execute: () => 'plain' })

export const createPartsServer = (): MCPServer =>
  new MCPServer({
    id: 'parts',
    name: 'Parts',
    version: '1.0.0',
    log: false,
    bus: createMemoryBus(),
    secret: 'a secret of more than thirty-two characters',
    tools: {
      plain,
      again: createTool({ id: 'again', execute: async () => `${await plain.execute()} again` }),
      ask: createTool({
        id: 'ask',
        execute: async (_input, ctx) => {
          const [paid, answer] = await Promise.all([
            ctx.step('pay', () => 'paid'),
            ctx.elicit('Your name?', NAME),
          ])
          return `${paid} ${answer.action}`
        },
      }),
      work: createTool({ id: 'work', execute: (_input, ctx) => ctx.step('work', () => 'worked') }),
    },
    resources: [
      createResource({ uriTemplate: 'note://{id}', read: ({ variables }) => `note ${variables.id}` }),
    ],
    prompts: {
      greet: createPrompt({
        argsSchema: NAME,
        complete: { name: () => ['Ada'] },
        get: (args: { name?: unknown }) => `Greet ${args.name}`,
      }),
    },
    // What limits, audits and traces calls takes part in every one.
    http: { maxListenMs: 50, keepAliveMs: 20, maxConcurrentCalls: 100 },
    audit: { record: () => {} },
    telemetry: { start: () => ({ run: (work) => work(), end: () => {} }) },
  })
