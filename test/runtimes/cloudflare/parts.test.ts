/** On workerd, whose promises belong to one request: the parts of the server as modules of their own. */
import { fileURLToPath } from 'node:url'
import { describe } from 'vitest'
import { firstUses } from '../../contract/parts.ts'
import { startWorkerd, urlOf } from './_workerd.ts'

const SERVER = fileURLToPath(new URL('../../contract/parts-server.ts', import.meta.url))

const contents = `import { createPartsServer } from ${JSON.stringify(SERVER)}
  let server
  export default { fetch: (...given) => (server ??= createPartsServer()).fetch(...given) }`

describe.each([
  ['a split bundle', true],
  ['one file', false],
])('workerd, %s', (_bundle, splitting) =>
  firstUses(async () => {
    const stdin = { contents, resolveDir: import.meta.dirname }
    const workerd = await startWorkerd({ stdin, splitting })
    return { url: new URL('/mcp', await urlOf(workerd)), close: () => workerd.dispose() }
  }),
)
