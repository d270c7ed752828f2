/** On workerd: one caller takes all that it can, another one is served. */
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { Miniflare } from 'miniflare'
import { beforeAll, describe } from 'vitest'
import { sharesScenarios } from '../../contract/shares.ts'

const SERVER = fileURLToPath(new URL('../../contract/shares-server.ts', import.meta.url))

let worker: string

beforeAll(async () => {
  // On the first request: modules may not make random values here.
  const contents = `import { createSharesServer } from ${JSON.stringify(SERVER)}
    let server
    export default { fetch: (...given) => (server ??= createSharesServer()).fetch(...given) }`
  const stdin = { contents, resolveDir: import.meta.dirname }
  const { outputFiles } = await build({ stdin, bundle: true, write: false, format: 'esm' })
  worker = outputFiles[0]!.text
})

describe('workerd', () =>
  sharesScenarios(async () => {
    const modules = { 'worker.js': { type: 'esm' as const, contents: worker } }
    const config = {
      name: 'shares',
      compatibilityDate: '2025-09-01',
      manifest: { mainModule: 'worker.js', modulesRoot: import.meta.dirname, modules },
    }
    const dev = { unsafeDirectSockets: [{ host: '127.0.0.1', port: 0 }] }
    // Its default asks the internet where it is.
    const workerd = new Miniflare({ cf: false, workers: [{ config, dev }] })
    await workerd.ready
    const url = new URL('/mcp', await workerd.unsafeGetDirectURL('shares'))
    return { url, close: () => workerd.dispose() }
  }))
