/** Recognizes an app or a server where a Node handler is wanted, by members that only it has, and says what to pass instead. */
import { memberOf } from '../definition/error-text.ts'

interface Shape {
  readonly name: string
  readonly instead: string
}

const EXPRESS: Shape = { name: 'an app of Express or Connect', instead: 'the app itself' }

const SHAPES: readonly (readonly [string, Shape])[] = [
  ['callback', { name: 'Koa', instead: 'app.callback()' }],
  [
    'routing',
    { name: 'Fastify', instead: 'async (req, res) => { await app.ready(); app.routing(req, res) }' },
  ],
  [
    'getHttpAdapter',
    {
      name: 'Nest',
      instead: 'async (req, res) => { await app.init(); app.getHttpAdapter().getInstance()(req, res) }',
    },
  ],
  [
    'fetch',
    {
      name: 'a server that uses fetch',
      instead: 'the server itself, without fromNode; h3 has toNodeHandler(app)',
    },
  ],
  [
    'registerTool',
    {
      name: 'a server of an official SDK',
      instead: 'a function that creates it to fromSdk of mayfly-mcp/sdk, instead of fromNode',
    },
  ],
  [
    'closeAllConnections',
    { name: 'a server of node:http', instead: 'the app that it serves, without app.listen()' },
  ],
  ['then', { name: 'a Promise', instead: 'what it resolves to: fromNode(await createApp())' }],
]

/** Whether it is an app of Express or Connect, which are functions. */
export function isApp(value: object): boolean {
  return 'handle' in value && 'listen' in value
}

/** What a value is, if it is not a Node handler. */
export function shapeOf(value: unknown): Shape | undefined {
  if (typeof value === 'function') return isApp(value) ? EXPRESS : undefined
  return SHAPES.find(([member]) => typeof memberOf(value, member) === 'function')?.[1]
}
