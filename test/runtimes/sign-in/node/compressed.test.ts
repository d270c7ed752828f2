/** Answers that are small on the way and huge when they are decoded, on this Node and on an older one if the machine has it. */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, it } from 'vitest'

const run = promisify(execFile)

/** 64 MB of zeros. */
const ZEROS = Buffer.alloc(64 * 1024 * 1024)
const gzipped = gzipSync(ZEROS, { level: 1 })
const BOMBS: { readonly [encoding: string]: Buffer } = {
  // One member after the other: a gigabyte.
  gzip: Buffer.concat(Array.from({ length: 16 }, () => gzipped)),
  deflate: deflateSync(ZEROS, { level: 1 }),
  br: brotliCompressSync(ZEROS),
  'gzip, gzip': gzipSync(gzipped),
}

/** The Node of these tests, and the system's, which may be the oldest that is supported. */
const nodes = [process.execPath, '/usr/bin/node', '/usr/local/bin/node'].filter(
  (path, at, all) => all.indexOf(path) === at && existsSync(path),
)

const folder = mkdtempSync(join(tmpdir(), 'mayfly-compressed-'))
const script = join(folder, 'bounded.mjs')
const server = createServer(({ url = '' }, response) => {
  const encoding = decodeURIComponent(url.slice(1))
  response.on('error', () => {})
  response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': encoding })
  response.end(BOMBS[encoding])
})

beforeAll(async () => {
  const entry = join(import.meta.dirname, '_bounded.ts')
  await build({ entryPoints: [entry], outfile: script, bundle: true, format: 'esm', platform: 'node' })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
  rmSync(folder, { recursive: true, force: true })
})

it.each(nodes.flatMap((node) => Object.keys(BOMBS).map((encoding) => [encoding, node] as const)))(
  'an answer in %s that decodes to 64 MB or more → refused by %s, in little memory',
  async (encoding, node) => {
    const { port } = server.address() as AddressInfo
    const { stdout } = await run(node, [script, `http://127.0.0.1:${port}/${encodeURIComponent(encoding)}`])
    const told = JSON.parse(stdout) as { reason: string; peakMb: number }
    expect(told.reason).toBe('too-large')
    // Seen: 56 to 66 MB, as without an answer.
    expect(told.peakMb).toBeLessThan(ZEROS.length / 1024 / 1024 + 60)
  },
)
