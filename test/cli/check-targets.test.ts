/** `mayfly check` on what `mayfly dev` serves on each platform's own runtime: nothing is wrong and nothing degrades. */
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { testPort } from '../_port.ts'
import { asExpected, check, found, TOKEN } from './_check-servers.ts'
import { MayflyProcess, stopAll } from './_dev-process.ts'

afterAll(stopAll)

const TIMEOUT_MS = 180_000
const root = fileURLToPath(new URL('../..', import.meta.url))

/** AWS's client is compiled where it is installed, which takes a minute: test/runtimes has it. */
const TARGETS = [
  'node',
  'cloudflare',
  'deno',
  'supabase',
  'bun',
  'vercel',
  'vercel-edge',
  'netlify',
  'netlify-edge',
]

async function dev(entry: string, target: string): Promise<MayflyProcess & { url: URL }> {
  const port = String(await testPort())
  const mayfly = new MayflyProcess(['dev', entry, '--target', target, '--port', port], root)
  await mayfly.ready()
  return Object.assign(mayfly, { url: new URL(mayfly.stdout.trim().replace(/^ready /, '')) })
}

describe.for(TARGETS)('%s', { timeout: TIMEOUT_MS }, (target) => {
  test('without authorization', async () => {
    await using mayfly = await dev('examples/showcase/server.ts', target)

    expect(asExpected(found(await check(mayfly.url, undefined, 10_000)))).toEqual([])
  })

  test('with static tokens: without one, and with one', async () => {
    await using mayfly = await dev('test/cli/_protected-server.ts', target)

    expect(asExpected(found(await check(mayfly.url, undefined, 10_000)))).toEqual([])
    expect(asExpected(found(await check(mayfly.url, TOKEN, 10_000)))).toEqual([])
  })
})
