/** On workerd: one caller takes all that it can, another one is served. */
import { fileURLToPath } from 'node:url'
import { describe } from 'vitest'
import { sharesScenarios } from '../../contract/shares.ts'
import { startWorkerd, urlOf } from './_workerd.ts'

const SERVER = fileURLToPath(new URL('../../contract/shares-server.ts', import.meta.url))

// On the first request: modules may not make random values here.
const contents = `import { createSharesServer } from ${JSON.stringify(SERVER)}
  let server
  export default { fetch: (...given) => (server ??= createSharesServer()).fetch(...given) }`

describe('workerd', () =>
  sharesScenarios(async () => {
    const workerd = await startWorkerd({ stdin: { contents, resolveDir: import.meta.dirname } })
    return { url: new URL('/mcp', await urlOf(workerd)), close: () => workerd.dispose() }
  }))
