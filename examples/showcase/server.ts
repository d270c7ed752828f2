/**
 * Mayfly Showcase: a river keeper's almanac, and a tour of what one server can have. `npm start` serves it from workerd;
 * `npx wrangler deploy` puts it on Cloudflare. The same file runs on Node.
 */
import { createMemoryBus, createPrompt, createResource, createTool, MCPServer } from 'mayfly-mcp'
import * as z from 'zod'
import { fieldDay, naturalist } from './naturalist.ts'
import { MONTHS, REGIONS, SPECIES, today } from './river.ts'
import { closeRiver, hatchForecast, moonPhase, speciesIds, watchHatch } from './tools.ts'

const ICON = `data:image/svg+xml;base64,${btoa(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none" stroke="#2a7a6f" stroke-width="1.3" stroke-linecap="round"><path d="M9 15C7 10 9 5 15 2c1 5-1 10-6 13Z" fill="#2a7a6f33"/><path d="M4 15c3-1 7 0 10 2m0 0 7-1m-7 1 7 2m-7-2 5 4M6 15l-2 4m5-3v4"/></svg>',
)}`

const SIGHTINGS = 'sightings://latest'

/** Lives as long as its isolate, which is enough for a tour. A server in earnest asks its database. */
const sightings: string[] = ['2026-06-12: ephemera-danica, 40 at the mill weir']

const reportSighting = createTool({
  id: 'report_sighting',
  title: 'Report a sighting',
  description: `Adds what somebody saw to ${SIGHTINGS}.`,
  inputSchema: z.object({
    species: z.enum(Object.keys(SPECIES)),
    place: z.string().min(1).max(80),
    count: z.int().positive(),
  }),
  mcp: { annotations: { destructiveHint: false, idempotentHint: false } },
  execute: async ({ species, place, count }) => {
    sightings.unshift(`${today()}: ${species}, ${count} at ${place}`)
    sightings.splice(20)
    // Every client that listens to this resource hears of it, whichever request it listens in.
    await server.resources.notifyUpdated({ uri: SIGHTINGS })
    return `Thank you: that makes ${sightings.length} sightings.`
  },
})

const guide = createResource({
  uri: 'guide://mayflies',
  name: 'guide',
  title: 'What is a mayfly?',
  mimeType: 'text/markdown',
  read: () => {
    const list = Object.entries(SPECIES).map(([id, { name }]) => `- [${name}](species://${id})`)
    return `# Mayflies\n\nA year under water, one day in the air. They keep nothing.\n\n${list.join('\n')}\n`
  },
})

const latestSightings = createResource({
  uri: SIGHTINGS,
  name: 'sightings',
  title: 'Latest sightings',
  mimeType: 'text/plain',
  read: () => sightings.join('\n'),
})

const species = createResource({
  uriTemplate: 'species://{id}',
  name: 'species',
  title: 'One species',
  mimeType: 'application/json',
  complete: { id: speciesIds },
  read: ({ variables: { id = '' } }) =>
    JSON.stringify(Object.hasOwn(SPECIES, id) ? SPECIES[id] : { unknown: id, known: Object.keys(SPECIES) }),
})

const identify = createPrompt({
  title: 'Identify a mayfly',
  description: 'Finds out what somebody saw by the river.',
  argsSchema: z.object({
    description: z.string().describe('What it looked like'),
    month: z.enum(MONTHS).optional().describe('When it flew'),
  }),
  complete: {
    month: (typed) => MONTHS.filter((month) => month.toLowerCase().startsWith(typed.toLowerCase())),
  },
  get: ({ description, month }) =>
    `Somebody saw this${month === undefined ? '' : ` in ${month}`}: "${description}". Ask the naturalist what it may have been, read the species you suspect, and say how sure you are.`,
})

const planEvening = createPrompt({
  title: 'Plan an evening by the water',
  argsSchema: z.object({ region: z.enum(REGIONS) }),
  complete: { region: (typed) => REGIONS.filter((region) => region.startsWith(typed)) },
  get: ({ region }) => [
    {
      role: 'user',
      content: {
        type: 'text',
        text: `Plan my evening in ${region}: run the field day, then show me the moon.`,
      },
    },
  ],
})

const server: MCPServer = new MCPServer({
  id: 'mayfly-showcase',
  name: 'Mayfly Showcase',
  version: '1.0.0',
  description: "A river keeper's almanac: what hatches tonight, under which moon, and who saw it.",
  instructions:
    'Start with hatch_forecast for a region. species://{id} tells more of what it names; sightings://latest is what people saw, and can be subscribed to.',
  icons: [{ src: ICON, mimeType: 'image/svg+xml', sizes: ['any'] }],
  tools: {
    hatch_forecast: hatchForecast,
    moon_phase: moonPhase,
    watch_hatch: watchHatch,
    report_sighting: reportSighting,
    close_river: closeRiver,
  },
  agents: { naturalist },
  workflows: { field_day: fieldDay },
  resources: [guide, latestSightings, species],
  prompts: { identify, plan_evening: planEvening },
  // One server, many tenants: each request may see another set of tools. A header says who is who on this tour; in
  // earnest it is the verified token in `context.auth`.
  setup: (requestServer, request) => {
    if (request.headers.get('x-tenant') === 'wardens') requestServer.tool('close_river').enable()
  },
  // Within one isolate. A bus shared by all of them takes the same place.
  bus: createMemoryBus(),
})

export default server
