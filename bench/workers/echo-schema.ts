/** The input of the one tool that every worker serves. */
import * as z from 'zod'

export const echoSchema = z.object({
  text: z.string().describe('What to say'),
  channel: z.string().describe('Where to say it'),
  count: z.number().describe('How often to say it'),
  tone: z.enum(['friendly', 'formal']).optional().describe('How to say it'),
})
