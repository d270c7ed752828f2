/** Events on workerd. */
import { fileURLToPath } from 'node:url'
import { describe } from 'vitest'
import { startWorkerd, urlOf } from '../cloudflare/_workerd.ts'
import { eventScenario } from './_scenario.ts'

const SERVER = fileURLToPath(new URL('_server.ts', import.meta.url))

// On the first request: modules may not make random values here.
const contents = `import { createNotes } from ${JSON.stringify(SERVER)}
  let server
  export default { fetch: (...given) => (server ??= createNotes()).fetch(...given) }`

describe('workerd', () =>
  eventScenario(async () => {
    const workerd = await startWorkerd({ stdin: { contents, resolveDir: import.meta.dirname } })
    return { url: new URL('/mcp', await urlOf(workerd)), close: () => workerd.dispose() }
  }))
