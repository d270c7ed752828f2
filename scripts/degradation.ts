/**
 * Writes `docs/degradation.md` from the degradation matrix, so that the two cannot disagree.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { type Abilities, ALL_ABILITIES, type Engine } from '../deploy/contract/abilities.ts'
import {
  type Cell,
  type Column,
  LEGACY_ALTERNATIVES,
  MATRIX,
  type Need,
  type OwnFeature,
} from '../src/interaction/matrix.ts'
import { LEGACY_TASKS } from '../src/tasks/feature.ts'

const FILE = new URL('../docs/degradation.md', import.meta.url)

const HEAD = `# What works where

<!-- Written by \`npm run docs\` from src/interaction/matrix.ts and deploy/contract/abilities.ts: change it there. -->

A stateless server of \`mayfly-mcp\` lacks some features of one with sessions. This page lists all features. What cannot work is never
advertised, and \`ctx.can(feature)\` tells you for the current request:

\`\`\`ts
import { createTool } from 'mayfly-mcp'
import * as z from 'zod'

export const refund = createTool({
  id: 'refund',
  execute: async (_input, ctx) => {
    const asking = ctx.can('elicitation.form')
    if (!asking.available) return \`\${asking.reason} \${asking.remedy}\`
    return ctx.elicit('Refund it?', z.object({ reason: z.string() }))
  },
})
\`\`\`

*Modern* clients speak MCP 2026-07-28, *legacy* clients 2025-03-26 to 2025-11-25. The last column is for legacy clients with a session in a
[long-lived process](sessions.md); modern clients need none. *Client support* means a capability that the client declares. Only tools, prompts and resource reads can ask.

| feature | modern clients | legacy clients | legacy clients in a session |
|---|---|---|---|
`

const NEEDS: { readonly [N in Need]: string } = {
  streaming: 'streaming',
  bus: 'a bus',
  subscriptions: 'stored subscriptions',
  secret: 'a secret',
  rendezvous: 'a rendezvous',
  client: 'client support',
  asking: '',
  state: 'a secret after a step or an answer',
  token: 'a progress token',
  level: 'a requested log level',
  disconnect: 'a platform that reports disconnects',
}

const PLATFORMS_HEAD = `
## By platform

What reaches all isolates; \`createMemory…\` reaches one.

| adapter | streams | reports disconnects | buses | rendezvous | stored subscriptions | stores of tasks and MCP Events | task runners | event runners |
|---|---|---|---|---|---|---|---|---|
`

const PLATFORMS_TAIL = `
- **Vercel Edge** has no sockets, so neither Redis, Postgres, NATS, tasks nor events; questions to modern clients and progress work. Vercel deprecated it.
- **Netlify Edge** documents no sockets: the same holds.
- **Cloudflare Workers** can deliver events by a cron trigger, too.
- **Deno Deploy** can do what Deno can, but may run several isolates, so it has no sessions: share a bus, and run tasks by a schedule.
- **Supabase** has no sessions either, and ends streams after 150 s (paid plans 400 s): clients listen again.
- **Lambda** keeps a call running when its client has left.
`

const TAIL = `
## What to configure to get more

| what | where | what it brings |
|---|---|---|
| a secret | \`MAYFLY_SECRET\`, or \`secret\` | [questions](asking.md) that come after a step or another question; the legacy policy \`arguments\` |
| a bus | \`bus\`, or a [long-lived process](sessions.md) | [change notifications](events.md) to modern clients |
| stored subscriptions | \`subscriptions\`, with a bus and a secret | [change notifications to legacy clients](events-reference.md#legacy-clients) |
| a rendezvous | \`rendezvous\`, with \`legacy: 'rendezvous'\` | [questions to legacy clients](rendezvous.md), on the response stream |
| tasks | \`tasks\` | [calls that outlive a request](tasks.md) |
| events | \`events\`, for webhooks also \`auth\` | [MCP Events](mcp-events.md), by which a client acts while no user is there |
| streaming | the platform, and a client that accepts \`text/event-stream\` | progress, log messages, change notifications |

## What the user sees when it does not work

- **A question** that a legacy client cannot be asked: the tool's result says what is needed, why and what to do;
  \`_meta["mayfly/degraded"]\` is \`{ feature, reason, remedy }\`. A prompt or resource read is an error with these as \`data\`. No call
  hangs: every wait has a deadline.
- **A question** without client support, to a modern client: the error \`-32021\`, which names the missing capabilities.
- **Progress and log messages** without streaming, or that the client did not ask for: they are dropped, and the result is the same. A batch,
  and sessions with \`enableJsonResponse\`, do not stream.
- **Cancelling**: \`ctx.signal\` aborts when a client closes the response, and in a session when it posts \`notifications/cancelled\`.
  Without a session that message is acknowledged, and the call continues.
- **Change notifications** without a bus or stored subscriptions: nothing is advertised, and modern clients list again after \`ttlMs\`.
  Legacy \`resources/subscribe\` is acknowledged, but no update follows.

## Deprecated by MCP 2026-07-28

[Sampling, roots, logging and dynamic client registration](https://modelcontextprotocol.io/specification/2026-07-28/deprecated): they work, and may be
removed from 2027-07-28. HTTP+SSE has been deprecated since 2025-03-26.

## Why not

`

function describe({ needs, unavailable }: Cell): string {
  if (unavailable !== undefined) return 'no'
  const named = needs.map((need) => NEEDS[need]).filter((text) => text !== '')
  return named.length === 0 ? 'yes' : `needs ${named.join(', ')}`
}

function cell(feature: OwnFeature, era: Column): string {
  const usual = describe(MATRIX[feature][era])
  const alternative = era === 'legacy' ? LEGACY_ALTERNATIVES[feature] : undefined
  if (alternative === undefined) return usual
  const way =
    feature === 'elicitation.url'
      ? 'as the error `-32042` of 2025-11-25'
      : "for tools, with `legacy: 'arguments'`"
  return `${usual}; or ${way}: ${describe(alternative)}; else explained`
}

function platforms(): string {
  const adapters = new Map<string, string[]>()
  for (const [adapter, ...cells] of [...ALL_ABILITIES.values()].map(platformCells)) {
    const same = cells.join(' | ')
    adapters.set(same, [...(adapters.get(same) ?? []), adapter!])
  }
  const rows = [...adapters].map(([cells, names]) => `| ${names.join(', ')} | ${cells} |`)
  return `${PLATFORMS_HEAD}${rows.join('\n')}\n${PLATFORMS_TAIL}`
}

function platformCells({ lacks, ...can }: Abilities): readonly string[] {
  const isStreaming = !lacks.includes('streaming')
  const list = (engines: readonly string[], own: string | undefined = undefined) =>
    [...(own === undefined || !can.hasOneProcess ? [] : [own]), ...engines.map(shown)].join(', ') || 'no'
  return [
    can.adapter,
    isStreaming ? 'yes' : 'no',
    lacks.includes('disconnect') ? 'no' : 'yes',
    isStreaming ? list(can.buses, 'none needed') : 'to publish only',
    isStreaming ? list(can.rendezvous, 'memory') : 'no',
    isStreaming ? list(can.subscriptions, 'memory') : 'no',
    list(can.stores, 'memory'),
    list(can.runners),
    list(can.runners.filter((engine) => RUN_EVENTS.includes(engine))),
  ]
}

/** Deliveries are short: they need no engine that holds a state between its steps. */
const RUN_EVENTS: readonly Engine[] = [
  'pollingRunner',
  'cron',
  'sqsRunner',
  'cloudflareAlarms',
  'cloudflareQueues',
]

const PLAIN: { readonly [engine: string]: string } = {
  cron: 'cron',
  alarm: 'its alarm',
  durableFunctions: 'durable functions',
  sqsRunner: 'SQS',
  cloudflareAlarms: '`alarmRunner`',
  cloudflareQueues: 'Queues',
  cloudflareWorkflows: 'Workflows',
  pollingRunner: '`pollingRunner`',
}

/** Without what its column says. */
function shown(engine: string): string {
  const name = /^(redis|postgres|nats|dynamo|durableObject)/.exec(engine)?.[1] ?? ''
  const titles: { readonly [name: string]: string } = {
    redis: 'Redis',
    postgres: 'Postgres',
    nats: 'NATS',
    dynamo: 'DynamoDB',
    durableObject: 'Durable Object',
  }
  return PLAIN[engine] ?? titles[name] ?? engine
}

function reasons(): string {
  const lines = new Map<string, string[]>()
  for (const [feature, eras] of Object.entries(MATRIX)) {
    for (const [era, { unavailable }] of Object.entries(eras)) {
      if (unavailable === undefined) continue
      const text = `${unavailable.reason} ${unavailable.remedy}`
      lines.set(text, [
        ...(lines.get(text) ?? []),
        `\`${feature}\` (${era === 'session' ? 'in a session' : era})`,
      ])
    }
  }
  lines.set(`${LEGACY_TASKS.reason} ${LEGACY_TASKS.remedy}`, ['`tasks` (legacy)', '`tasks` (in a session)'])
  return [...lines].map(([text, features]) => `- ${features.join(', ')}: ${text}`).join('\n')
}

/** Tables without padding. */
function compact(page: string): string {
  return page.replaceAll(/^\|.*\|$/gm, (row) => row.replaceAll(/ *\| */g, '|'))
}

/** The whole file. */
export function renderDegradation(): string {
  const rows = (Object.keys(MATRIX) as OwnFeature[]).map(
    (feature) =>
      `| \`${feature}\` | ${cell(feature, 'modern')} | ${cell(feature, 'legacy')} | ${cell(feature, 'session')} |`,
  )
  rows.push('| `tasks` | needs tasks, client support, `task` of the tool | no | no |')
  const everywhere = (mode: string, needs: string): string => `| ${[mode, needs, needs, needs].join(' | ')} |`
  rows.push(
    everywhere('`events/poll`', 'needs events'),
    everywhere('`events/stream`', 'needs events, streaming'),
    everywhere('`events/subscribe`', 'needs events, auth'),
  )
  return compact(`${HEAD}${rows.join('\n')}\n${platforms()}${TAIL}${reasons()}\n`)
}

/** The file as it is on disk. */
export function writtenDegradation(): string {
  return readFileSync(FILE, 'utf8')
}

if (import.meta.main) writeFileSync(FILE, renderDegradation())
