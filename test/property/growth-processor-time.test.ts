/** Work in proportion, as growth.test.ts, of what is measured by the processor's time: alone, since others on the machine stretch that, too. */
import { expect, it, test } from 'vitest'
import { jsonFormat } from '../../deploy/add/json-format.ts'
import { pretty } from '../../deploy/playground/browser/json.ts'
import { compileUriTemplate } from '../../src/definition/uri-template.ts'
import { MCPServer } from '../../src/index.ts'
import { cpuMs, ownCpuMs } from '../_cpu.ts'
import { formPost, names } from '../unit/sign-in/attacks/_names.ts'
import { createWholeServer } from '../unit/sign-in/attacks/_whole-server.ts'
import { isRefused } from './_guarded.ts'

const leastOf = (turns: number, measured: () => number): number =>
  Math.min(...Array.from({ length: turns }, measured))

it.each([
  ['begins otherwise', 'y://{+a}/{+b}/{+c}/end'],
  ['ends otherwise', 'x://{+a}/{+b}/{+c}/other'],
  ['has other texts between', 'x://{+a}/?/{+b}/{+c}/end'],
])('a long URI that %s than a template is told apart in a fifth of the time of a match', (_how, other) => {
  const uri = `x://${'a/'.repeat(1000)}end`
  const timeOf = (template: string): number => {
    const { match } = compileUriTemplate(template)
    return leastOf(3, () => {
      const start = cpuMs()
      for (let turn = 0; turn < 500; turn++) match(uri)
      return cpuMs() - start
    })
  }
  const matching = timeOf('x://{+a}/{+b}/{+c}/end')
  expect(timeOf(other) * 5).toBeLessThan(matching)
})

test('scopes of resources: a long URI of a bad kind → looked at once for each part of a key [guarded.spelling]', () => {
  const guarded = { 'x://{a}/{+b}/{c}.{+d}-{+e}!': ['vault'] }
  const cost = (length: number): number => {
    const uri = 'x://'.padEnd(length, 'a/.-')
    return leastOf(5, () => {
      const before = cpuMs()
      for (let round = 0; round < 200; round++) isRefused(uri, guarded)
      return cpuMs() - before
    })
  }
  cost(8192)
  const [short, long] = [cost(1024), cost(8192)].map((ms) => ms + 1) as [number, number]
  // Eight times the length: 8 where the work is linear, 64 where it is quadratic.
  expect(long / short).toBeLessThan(24)
})

it('comments of a client’s file in any number take no longer than their length', () => {
  for (const comments of [
    `\n${'/'.repeat(200)}`,
    '\n// see https://a.example/b'.repeat(5000),
    '/* a *//**/'.repeat(5000),
  ]) {
    const before = `{"mcpServers":\n{"old":1${comments}\n}}`
    const addition = { key: 'mcpServers', entry: { url: 'https://shop.example/mcp' } }
    const start = cpuMs()

    const after = jsonFormat.write(before, 'shop', addition)

    expect(jsonFormat.read(after, 'mcpServers', 'shop')).toEqual(addition.entry)
    expect(cpuMs() - start).toBeLessThan(5000)
  }
})

it('a message of 200 KB is shown in the playground in no longer the deeper it is', () => {
  const nested = JSON.parse(`${'[1,'.repeat(50_000)}1${']'.repeat(50_000)}`) as unknown
  const before = ownCpuMs()
  for (let turn = 0; turn < 20; turn++) pretty(nested)
  // It took 38 s.
  expect(ownCpuMs() - before).toBeLessThan(2000)
})

it('a body of two million items is refused with little more work than parsing it takes', async () => {
  const server = new MCPServer({ name: 'Shop', version: '1.0.0', log: false })
  const items = '0,'.repeat(2_000_000)
  const cost = async (end: string): Promise<number> => {
    const body = `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"items":[${items}${end}`
    const headers = { 'content-type': 'application/json', accept: 'application/json' }
    const costs: number[] = []
    for (let turn = 0; turn < 5; turn++) {
      const request = new Request('https://shop.example/mcp', { method: 'POST', headers, body })
      const start = ownCpuMs()
      expect((await server.fetch(request)).status).toBe(400)
      costs.push(ownCpuMs() - start)
    }
    return Math.min(...costs)
  }
  const parsing = await cost('?')
  // Looking at each item took six times as long.
  expect(await cost('0]}}')).toBeLessThan(3 * parsing + 10)
})

it.each(['/oauth/token', '/oauth/authorize', '/connections'])(
  'POST %s with thousands of names → 400, in less than half a second of work',
  async (path) => {
    const { world } = createWholeServer()
    await world.send(formPost(path, 'a=b'))
    const start = ownCpuMs()
    expect((await world.send(formPost(path, names(65_000)))).status).toBe(400)
    expect(ownCpuMs() - start).toBeLessThan(500)
  },
)

it.each(['/oauth/authorize', '/oauth/authorize?consent=x&', '/oauth/callback'])(
  'GET %s with thousands of names → 400, in less than half a second of work',
  async (path) => {
    const { world } = createWholeServer()
    await world.get('/oauth/callback?a=b')
    const start = ownCpuMs()
    for (const characters of [4000, 60_000])
      expect((await world.get(`${path}?${names(characters)}`)).status).toBe(400)
    expect(ownCpuMs() - start).toBeLessThan(500)
  },
)
