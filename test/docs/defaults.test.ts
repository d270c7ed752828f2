/** The numbers that the documentation gives as defaults are those of the code. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { template } from '../../deploy/targets/lambda/template.ts'
import {
  DEFAULT_MAX_RESPONSE_BYTES,
  DEFAULT_MAX_TASK_MS,
  DEFAULT_TIMEOUT_MS,
} from '../../src/client/config.ts'
import { toAppOptions, toCallLimits } from '../../src/http/hosting.ts'

const ROOT = join(import.meta.dirname, '../..')

/** `| \`a\`, \`b\` | 64, 100 000 | … |` of the first table of a page, by option. */
function writtenDefaults(file: string): Map<string, string> {
  const rows = readFileSync(join(ROOT, file), 'utf8').matchAll(/^\| ((?:`\w+`(?:, )?)+) \| ([^|]*) \|/gm)
  return new Map(
    Array.from(rows).flatMap(([, names, values]) => {
      const options = Array.from(names!.matchAll(/`(\w+)`/g), ([, name]) => name!)
      const defaults = options.length === 1 ? [values!] : values!.split(', ')
      return options.map((name, index) => [name, defaults[index] ?? defaults.at(-1)!] as const)
    }),
  )
}

it('docs/http.md: each limit has the default that it says, and none is left out', () => {
  const coded = { ...toCallLimits({}), ...toAppOptions({}, () => {}, false) } as {
    readonly [option: string]: unknown
  }
  const written = writtenDefaults('docs/http.md')
  const limits = Object.keys(coded).filter((option) =>
    /(Ms|Bytes|Depth|Members|Characters|Calls|Streams)$/.test(option),
  )
  expect(limits.length).toBeGreaterThan(12)
  for (const option of limits) {
    const value = coded[option]
    const said = written.get(option)
    if (typeof value === 'number' && Number.isFinite(value))
      expect([option, Number(said?.replaceAll(' ', ''))]).toEqual([option, value])
    else
      expect([option, said]).toEqual([
        option,
        expect.stringMatching(/^(?:none|the platform’s own limit|the platform's own limit)$/),
      ])
  }
  expect([coded.page, coded.health, coded.trustProxy]).toEqual([true, true, false])
  expect([written.get('page'), written.get('health'), written.get('trustProxy')]).toEqual(['on', 'on', 'off'])
  expect([coded.allowedHosts, coded.allowedOrigins, coded.publicUrl]).toEqual([
    undefined,
    undefined,
    undefined,
  ])
})

it('docs/client-reference.md: the time of a call and the size of an answer', () => {
  const page = readFileSync(join(ROOT, 'docs/client-reference.md'), 'utf8')
  const number = (pattern: RegExp) => Number(pattern.exec(page)?.[1]?.replaceAll(' ', ''))
  expect(number(/no answer within `timeoutMs` \(([\d ]+),/)).toBe(DEFAULT_TIMEOUT_MS)
  expect(number(/`maxResponseBytes`, of the client or of a server, ([\d ]+) by default/)).toBe(
    DEFAULT_MAX_RESPONSE_BYTES,
  )
  expect(number(/how long to wait for the end: ([\d ]+) by default/)).toBe(DEFAULT_MAX_TASK_MS)
})

it('docs/deploy/lambda.md: the parameters of the stack', () => {
  const page = readFileSync(join(ROOT, 'docs/deploy/lambda.md'), 'utf8')
  for (const parameter of ['TimeoutSeconds', 'MemoryMegabytes', 'LogRetentionDays']) {
    const said = new RegExp(`\`${parameter}\` \\((\\d+)`).exec(page)?.[1]
    const coded = new RegExp(`${parameter}:\\n {4}Type: Number\\n {4}Default: (\\d+)`).exec(template())?.[1]
    expect([parameter, said]).toEqual([parameter, coded])
    expect(coded).toBeDefined()
  }
})

it('the versions of other packages that the pages name are those of package.json', async () => {
  const { default: manifest } = await import('../../package.json', { with: { type: 'json' } })
  const { default: frameworks } = await import('../byo/package.json', { with: { type: 'json' } })
  const { peerDependencies: peers } = manifest
  const named: readonly (readonly [file: string, said: RegExp, version: string])[] = [
    ['docs/tools.md', /zod 4 schema \(([\d.]+) or later\)/, peers.zod],
    [
      'docs/sessions.md',
      /@modelcontextprotocol\/sdk`, ([\d.]+) or newer\)/,
      peers['@modelcontextprotocol/sdk'],
    ],
    [
      'docs/bring-your-own.md',
      /@modelcontextprotocol\/sdk` ([\d.]+) or newer/,
      peers['@modelcontextprotocol/sdk'],
    ],
    [
      'docs/bring-your-own.md',
      /@modelcontextprotocol\/server` ([\d.]+) or newer/,
      peers['@modelcontextprotocol/server'],
    ],
    ['docs/rendezvous.md', /`redis` \(([\d.]+) or later\)/, peers.redis],
    ['docs/rendezvous.md', /`ioredis` \(([\d.]+) or later\)/, peers.ioredis],
    ['docs/events.md', /`redis` \(([\d.]+) or later\)/, peers.redis],
    ['docs/events.md', /`ioredis` \(([\d.]+) or later\)/, peers.ioredis],
    ['docs/events.md', /`postgres` \(([\d.]+) or later\)/, peers.postgres],
    ['docs/events.md', /`pg` \(([\d.]+) or later\)/, peers.pg],
    ['docs/events.md', /`@nats-io\/transport-node` \(([\d.]+) or later\)/, peers['@nats-io/transport-node']],
    ['docs/migrate/mastra.md', /`@mastra\/core` ([\d.]+\d),/, frameworks.devDependencies['@mastra/core']],
    ['docs/migrate/mastra.md', /`@mastra\/mcp` ([\d.]+\d) and/, frameworks.devDependencies['mastra-mcp-1']],
  ]
  for (const [file, said, version] of named) {
    const written = said.exec(readFileSync(join(ROOT, file), 'utf8'))?.[1]
    expect([file, version.replace(/^\D*(?:@mastra\/mcp@)?/, '').startsWith(`${written}`)]).toEqual([
      file,
      true,
    ])
  }
})
