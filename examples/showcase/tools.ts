/** Tools that need nothing but their arguments. */
import { createTool } from 'mayfly-mcp'
import * as z from 'zod'
import { drawMoon, moonOn } from './moon.ts'
import { forecast, REGIONS, SPECIES, today } from './river.ts'

const date = z.iso.date().optional().describe('As in 2026-06-15; today when left out')
const readOnly = { readOnlyHint: true, idempotentHint: true, openWorldHint: false }

export const hatchForecast = createTool({
  id: 'hatch_forecast',
  title: 'Hatch forecast',
  description: 'What will fly over a river tonight, and how warm the water is.',
  inputSchema: z.object({
    // Clients repeat it in the Mcp-Param-Region header, so that a gateway can route on it without reading the body.
    region: z.enum(REGIONS).meta({ 'x-mcp-header': 'Region', description: 'Which rivers' }),
    date,
  }),
  outputSchema: z.object({
    region: z.enum(REGIONS),
    date: z.string(),
    waterCelsius: z.number(),
    hatch: z.enum(['none', 'sparse', 'good', 'spectacular']),
    species: z.array(z.string()).describe('Ids: read species://{id} for more'),
  }),
  mcp: { annotations: readOnly },
  execute: ({ region, date = today() }) => forecast(region, date),
})

export const moonPhase = createTool({
  id: 'moon_phase',
  title: 'Moon phase',
  description: 'The phase of the moon on an evening, with a picture of it.',
  inputSchema: z.object({ date }),
  outputSchema: z.object({
    date: z.string(),
    phase: z.string(),
    illumination: z.number().min(0).max(1),
    ageDays: z.number(),
  }),
  mcp: { annotations: readOnly },
  execute: async ({ date = today() }) => {
    const moon = moonOn(date)
    return {
      content: [
        { type: 'text', text: `${moon.phase}, ${Math.round(moon.illumination * 100)} % lit, on ${date}` },
        { type: 'image', data: await drawMoon(moon.ageDays), mimeType: 'image/png' },
      ],
      structuredContent: moon,
    }
  },
})

export const watchHatch = createTool({
  id: 'watch_hatch',
  title: 'Watch a hatch',
  description: 'Sits by the water and counts what rises, reporting as it goes.',
  inputSchema: z.object({ minutes: z.int().min(1).max(60).default(10) }),
  outputSchema: z.object({ minutes: z.int(), counted: z.int() }),
  mcp: { annotations: { readOnlyHint: true, openWorldHint: false } },
  execute: async ({ minutes }, ctx) => {
    let counted = 0
    // The response becomes a stream at the first report; a client that leaves ends the watch.
    for (let minute = 1; minute <= minutes && !ctx.signal.aborted; minute++) {
      await new Promise((resolve) => setTimeout(resolve, 300)) // a minute by the water
      counted += minute * 3
      ctx.reportProgress({ progress: minute, total: minutes, message: `${counted} so far` })
      if (minute === Math.ceil(minutes / 2)) ctx.log('info', 'The light is going: this is the best of it.')
    }
    return { minutes, counted }
  },
})

/** For wardens alone: hidden until `setup` shows it to one. */
export const closeRiver = createTool({
  id: 'close_river',
  title: 'Close a river',
  description: 'Closes a region to anglers for a day.',
  enabled: false,
  inputSchema: z.object({ region: z.enum(REGIONS), reason: z.string().min(1) }),
  mcp: { annotations: { destructiveHint: true, idempotentHint: true } },
  execute: ({ region, reason }) => `${region} is closed today: ${reason}`,
})

export const speciesIds = (typed: string): string[] =>
  Object.keys(SPECIES).filter((id) => id.startsWith(typed))
