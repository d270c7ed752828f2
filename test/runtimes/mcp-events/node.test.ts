/** Events on Node. */
import { serve } from 'mayfly-mcp/node'
import { describe } from 'vitest'
import { eventScenario } from './_scenario.ts'
import { createNotes } from './_server.ts'

describe('Node', () =>
  eventScenario(async () => {
    const running = await serve(createNotes(), { port: 0, hostname: '127.0.0.1' })
    return { url: new URL(running.url), close: () => running.close() }
  }))
