/**
 * What each platform can do besides answering: by nature, and with which engines. The targets, `mayfly doctor`, `mayfly init`, the launchers
 * of the contract suite and docs/degradation.md use this list. `test/runtimes/engines` tries each engine on each runtime.
 */

/**
 * `objects`: Durable Objects. `process`: Postgres and a long-lived process. `cron`: Postgres and a schedule. `dynamodb`: DynamoDB and a
 * queue.
 */
export type TaskPlatform = 'objects' | 'process' | 'cron' | 'dynamodb'

/** How a new project stores the connections of people who sign in: in a Durable Object, Postgres or DynamoDB. */
export type GrantPlatform = 'objects' | 'postgres' | 'dynamodb'

/**
 * What a platform cannot do. `streaming`: it sends buffered responses only. `disconnect`: it does not report that a client has gone. `shared
 * memory`: two calls at once never meet in one process. `streamed requests`: it passes on a request when it has all of it.
 */
export type Lack = 'streaming' | 'disconnect' | 'shared memory' | 'streamed requests'

export interface Abilities {
  /** Its adapter and mode, as in docs/degradation.md. */
  readonly adapter: string
  readonly lacks: readonly Lack[]
  /** Whether one process serves all requests, so that it needs no bus, and `createMemory…` reaches everyone. */
  readonly hasOneProcess: boolean
  /** The engines that reach all its processes or isolates, by function. */
  readonly buses: readonly Engine[]
  readonly rendezvous: readonly Engine[]
  readonly subscriptions: readonly Engine[]
  readonly stores: readonly Engine[]
  readonly runners: readonly Engine[]
  /** How a new project stores and runs tasks. Undefined if the platform cannot. */
  readonly tasks?: TaskPlatform
}

/** Where a platform has a store for tasks, it has one for the connections of people. */
export function grantsOf(tasks: TaskPlatform | undefined): GrantPlatform | undefined {
  return tasks === 'process' || tasks === 'cron' ? 'postgres' : tasks
}

export type Engine = (typeof ENGINES)[number]

const ENGINES = [
  'redisBus',
  'postgresBus',
  'natsBus',
  'durableObjectBus',
  'redisRendezvous',
  'durableObjectRendezvous',
  'redisSubscriptions',
  'durableObjectSubscriptions',
  'redisTaskStore',
  'postgresTaskStore',
  'dynamoTaskStore',
  'durableObjectTaskStore',
  'pollingRunner',
  'cron',
  'sqsRunner',
  'durableFunctions',
  'alarm',
  'cloudflareAlarms',
  'cloudflareQueues',
  'cloudflareWorkflows',
] as const

type Engines = Pick<Abilities, 'buses' | 'rendezvous' | 'subscriptions' | 'stores'>

/** Where a connection to a server can be opened. */
const SOCKETS: Engines = {
  buses: ['redisBus', 'postgresBus', 'natsBus'],
  rendezvous: ['redisRendezvous'],
  subscriptions: ['redisSubscriptions'],
  stores: ['postgresTaskStore', 'redisTaskStore'],
}

const NOTHING: Engines = { buses: [], rendezvous: [], subscriptions: [], stores: [] }

const LAMBDA = {
  ...SOCKETS,
  hasOneProcess: false,
  stores: ['dynamoTaskStore', ...SOCKETS.stores],
  runners: ['sqsRunner', 'durableFunctions', 'cron'],
  tasks: 'dynamodb',
} as const

/** By target. Lambda has two ways to answer. */
export const ABILITIES = {
  cloudflare: {
    adapter: 'Cloudflare Workers',
    lacks: [],
    hasOneProcess: false,
    buses: ['durableObjectBus'],
    rendezvous: ['durableObjectRendezvous'],
    subscriptions: ['durableObjectSubscriptions'],
    stores: ['durableObjectTaskStore'],
    runners: ['alarm', 'cloudflareAlarms', 'cloudflareQueues', 'cloudflareWorkflows'],
    tasks: 'objects',
  },
  deno: {
    adapter: 'Deno, Deno Deploy',
    lacks: [],
    ...SOCKETS,
    hasOneProcess: false,
    runners: ['cron'],
    tasks: 'cron',
  },
  supabase: {
    adapter: 'Supabase',
    lacks: [],
    ...SOCKETS,
    hasOneProcess: false,
    runners: ['cron'],
    tasks: 'cron',
  },
  vercel: {
    adapter: 'Vercel (Node)',
    lacks: [],
    ...SOCKETS,
    hasOneProcess: false,
    runners: ['cron'],
    tasks: 'cron',
  },
  'vercel-edge': { adapter: 'Vercel Edge', lacks: [], ...NOTHING, hasOneProcess: false, runners: [] },
  lambda: {
    adapter: 'Lambda, `streamingLambda`',
    lacks: ['disconnect', 'shared memory', 'streamed requests'],
    ...LAMBDA,
  },
  'lambda-buffered': {
    adapter: 'Lambda, `lambda`',
    lacks: ['streaming', 'disconnect', 'shared memory', 'streamed requests'],
    ...LAMBDA,
  },
  netlify: {
    adapter: 'Netlify Functions',
    lacks: [],
    ...SOCKETS,
    hasOneProcess: false,
    runners: ['cron'],
    tasks: 'cron',
  },
  'netlify-edge': { adapter: 'Netlify Edge', lacks: [], ...NOTHING, hasOneProcess: false, runners: [] },
  bun: {
    adapter: 'Bun',
    lacks: [],
    ...SOCKETS,
    hasOneProcess: true,
    runners: ['pollingRunner'],
    tasks: 'process',
  },
  node: {
    adapter: 'Node',
    lacks: [],
    ...SOCKETS,
    hasOneProcess: true,
    runners: ['pollingRunner'],
    tasks: 'process',
  },
} as const satisfies { readonly [target: string]: Abilities }

/** The same with one type for all. */
export const ALL_ABILITIES: ReadonlyMap<string, Abilities> = new Map(Object.entries(ABILITIES))

/** The parts of a target that come from this list. */
export function abilitiesOf(name: keyof typeof ABILITIES): {
  readonly abilities: Abilities
  readonly hasOneProcess: boolean
  readonly tasks?: TaskPlatform
} {
  const abilities: Abilities = ABILITIES[name]
  const { hasOneProcess, tasks } = abilities
  return { abilities, hasOneProcess, ...(tasks !== undefined && { tasks }) }
}
