/** An agent and a workflow. Anything of this shape will do: Mayfly depends on no framework. */
import type { AgentLike, WorkflowLike } from 'mayfly-mcp'
import * as z from 'zod'
import { moonOn } from './moon.ts'
import { forecast, MONTHS, REGIONS, SPECIES, today } from './river.ts'

/** Becomes the tool `ask_naturalist`. A real one would call a model in `generate`. */
export const naturalist: AgentLike = {
  name: 'Naturalist',
  description: 'Knows the mayflies of Europe. Name a species, or say which month it is.',
  generate: async (message) => {
    // By whole words: a mayfly is not an answer to when.
    const names = (word: string) => new RegExp(`\\b${word}\\b`, 'i').test(message)
    const month = 1 + MONTHS.findIndex(names)
    const known = Object.values(SPECIES).filter(({ name, season }) => names(name) || season.includes(month))
    if (known.length === 0) return { text: 'Tell me its name or the month, and I will tell you what I know.' }
    return { text: known.map(({ name, bodyMm, note }) => `${name} (${bodyMm} mm): ${note}`).join('\n') }
  },
}

const fieldDayInput = z.object({ region: z.enum(REGIONS), date: z.iso.date().optional() })

/** Becomes the tool `run_field_day`. */
export const fieldDay: WorkflowLike = {
  id: 'field-day',
  description: 'Plans an evening by the water: the hatch, the light, and what to pack.',
  inputSchema: fieldDayInput,
  createRun: () => ({
    start: async ({ inputData }) => {
      const { region, date = today() } = fieldDayInput.parse(inputData)
      const { hatch, species, waterCelsius } = forecast(region, date)
      const { phase, illumination } = moonOn(date)
      const pack = [
        waterCelsius < 10 ? 'warm socks' : 'sun hat',
        illumination < 0.5 ? 'head torch' : 'nothing for the dark',
        ...(hatch === 'none' ? ['a good book'] : ['hand lens', 'notebook']),
      ]
      return { status: 'success', result: { region, date, hatch, species, moon: phase, pack } }
    },
  }),
}
