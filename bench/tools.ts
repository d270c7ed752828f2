/**
 * The tools that every peer serves: `echo_0` to `echo_<n-1>`, each with a zod 4 schema of its own. Peers implement them
 * with an async function: a tool that waits for nothing is the exception, and some servers answer it on a shorter path.
 */
import * as z from 'zod'

export interface EchoTool {
  readonly name: string
  readonly description: string
  readonly inputSchema: ReturnType<typeof echoSchema>
}

/** How many fields the input of a tool has, unless it is told. */
export const FIELD_COUNT = 4

/** From the fifth field on, inputs have required texts. */
export function echoTools(count: number, fieldCount: number = FIELD_COUNT): readonly EchoTool[] {
  return Array.from({ length: count }, (_, index) => ({
    name: `echo_${index}`,
    description: `Echoes a text to a channel (number ${index})`,
    inputSchema: echoSchema(fieldCount),
  }))
}

/** The names of the fields after the first four. */
export function moreFields(fieldCount: number): readonly string[] {
  return Array.from({ length: fieldCount - FIELD_COUNT }, (_, index) => `field_${index}`)
}

/** Called per tool: no peer may profit from one schema object being shared. */
function echoSchema(fieldCount: number) {
  const more = moreFields(fieldCount).map((name, index) => [name, z.string().describe(`Detail ${index}`)])
  return z.object({
    text: z.string().describe('What to say'),
    channel: z.string().describe('Where to say it'),
    count: z.number().describe('How often to say it'),
    tone: z.enum(['friendly', 'formal']).optional().describe('How to say it'),
    ...(Object.fromEntries(more) as object),
  })
}
