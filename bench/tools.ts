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

export function echoTools(count: number): readonly EchoTool[] {
  return Array.from({ length: count }, (_, index) => ({
    name: `echo_${index}`,
    description: `Echoes a text to a channel (number ${index})`,
    inputSchema: echoSchema(),
  }))
}

/** Called per tool: no peer may profit from one schema object being shared. */
function echoSchema() {
  return z.object({
    text: z.string().describe('What to say'),
    channel: z.string().describe('Where to say it'),
    count: z.number().describe('How often to say it'),
    tone: z.enum(['friendly', 'formal']).optional().describe('How to say it'),
  })
}
