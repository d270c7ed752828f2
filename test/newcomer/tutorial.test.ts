/**
 * docs/tutorial.md, as a reader follows it: every command and every file, in an empty folder, from the packed package. The platforms' own
 * tools upload to doubles of their APIs on loopback; what was uploaded is what then runs here.
 */
import { existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { untilListening } from '../../deploy/run/port.ts'
import { eventually } from '../_eventually.ts'
import { launchChromium, openPage } from '../browser/_chromium.ts'
import { ROOT } from '../package/_packed.ts'
import { answerAsCloudflare } from '../platform-clis/_cloudflare-api.ts'
import { type Double, formOf, startDouble } from '../platform-clis/_double.ts'
import { installed } from '../platform-clis/_project.ts'
import { createVercelAnswer } from '../platform-clis/_vercel-api.ts'
import { type Arranged, arrange } from './_arranged.ts'
import { createNewcomer, type Newcomer, type Result, type Running } from './_newcomer.ts'
import { perform, readyUrl, type Visit } from './_steps.ts'
import { added, tutorialFor } from './_tutorial.ts'

const PAGE = join(ROOT, 'docs/tutorial.md')

let arranged: Arranged
let browser: Browser
beforeAll(async () => {
  arranged = await arrange()
  browser = await launchChromium()
})
afterAll(async () => {
  await browser?.close()
  await arranged?.[Symbol.asyncDispose]()
})

/** How far a reader has come. */
interface Reader {
  readonly newcomer: Newcomer
  readonly target: string
  readonly visit: Visit
  /** Tests that must pass: the page says how many there are. */
  tests: number
  key: string
  url: string
  /** What was deployed. */
  serving?: Running | undefined
}

type Act = (command: string, reader: Reader) => Promise<void>

const ACTS: readonly (readonly [pattern: RegExp, act: Act])[] = [
  [/^npm test$/, runTests],
  [/^npm run dev$/, tryInBrowser],
  [/^npx mayfly keys create claude /, makeKey],
  [/^npx mayfly deploy --secret/, deploy],
  [/^PORT=3000 node --env-file/, serveOnThisMachine],
  [/^export SHOP_(?:URL|KEY)=/, remember],
  [/^npx mayfly-mcp check \$SHOP_URL/, check],
  [/^npx mayfly-mcp add \$SHOP_URL/, connectClaude],
  [/^claude$/, askAsClaude],
]

it.each(['cloudflare', 'vercel', 'node'])('%s', { timeout: 300_000 }, async (target) => {
  using newcomer = createNewcomer(join(ROOT, 'node_modules/node/bin/node'), arranged.registry, arranged.cache)
  const visit: Visit = { newcomer, target, node: 24, done: new Set() }
  const reader: Reader = { newcomer, target, visit, tests: 2, key: '', url: '' }
  try {
    for (const part of tutorialFor(target, PAGE)) {
      if (part.kind === 'file') write(part.path, part.place, part.text, reader)
      else await follow(part.text.replace('--target cloudflare', `--target ${target}`), reader)
    }
  } finally {
    await reader.serving?.stop()
  }
})

function write(path: string, place: string | undefined, text: string, reader: Reader): void {
  const file = join(reader.newcomer.cwd, path)
  const before = readFileSync(file, 'utf8')
  if (place === 'below the imports') reader.tests++
  // What the page says in a sentence.
  const changed =
    place === 'below the imports' ? before.replaceAll('connect(server)', 'connect(server, { auth })') : before
  writeFileSync(file, place === undefined ? text : added(changed, place, text))
}

async function follow(command: string, reader: Reader): Promise<void> {
  const started = performance.now()
  const [, act] = ACTS.find(([pattern]) => pattern.test(command)) ?? []
  await (act === undefined ? perform(command, reader.visit) : act(command, reader))
  console.log(`${((performance.now() - started) / 1000).toFixed(1)} s  ${command}`)
}

async function runTests(command: string, { newcomer, tests }: Reader): Promise<void> {
  const { stdout } = succeeded(await newcomer.run(command))
  expect(stdout).toMatch(new RegExp(`Tests +${tests} passed`))
}

async function tryInBrowser(command: string, { newcomer }: Reader): Promise<void> {
  const running = newcomer.start(command)
  try {
    const url = await readyUrl(running)
    const playground = await eventually(() => {
      const [, found] = /Playground +(\S+)/.exec(running.output()) ?? []
      if (found === undefined) throw new Error(`no playground:\n${running.output()}`)
      return found
    })
    expect(new URL(playground).origin).toBe(url.origin)
    await using opened = await openPage(browser, playground)
    const { page, complaints } = opened
    await page.getByRole('status').getByText('Connected').waitFor()
    await page.getByRole('navigation').getByRole('button', { name: 'order_status', exact: true }).click()
    const work = page.getByRole('region', { name: 'Try it' })
    await work.getByLabel('order').fill('7')
    await work.getByRole('button', { name: 'Call', exact: true }).click()
    expect(await work.getByLabel('Structured content').textContent()).toContain('Friday')

    const file = join(newcomer.cwd, 'src/server.ts')
    writeFileSync(file, readFileSync(file, 'utf8').replace('Friday', 'Sunday'))
    await expect
      .poll(async () => {
        await work.getByRole('button', { name: 'Call', exact: true }).click()
        return work.getByLabel('Structured content').textContent()
      })
      .toContain('Sunday')
    writeFileSync(file, readFileSync(file, 'utf8').replace('Sunday', 'Friday'))
    expect(complaints).toEqual([])
  } finally {
    await running.stop()
  }
}

async function makeKey(command: string, reader: Reader): Promise<void> {
  const { stdout } = succeeded(await reader.newcomer.run(command))
  reader.key = stdout.trim()
  expect(reader.key).toMatch(/^mk_\w+$/)
  const env = readFileSync(join(reader.newcomer.cwd, '.env'), 'utf8')
  expect(env).toContain('MAYFLY_API_KEYS=')
  expect(env).not.toContain(reader.key)
  expect(readFileSync(join(reader.newcomer.cwd, '.gitignore'), 'utf8')).toMatch(/^\.env$/m)
}

/** With the platform's own tool. */
async function deploy(command: string, reader: Reader): Promise<void> {
  const { newcomer, target } = reader
  await using api = await startDouble(target === 'cloudflare' ? answerAsCloudflare : createVercelAnswer())
  const { stdout } = succeeded(await newcomer.run(prepared(command, reader, api)))
  const [, url = ''] = /^deployed (\S+)\n$/m.exec(stdout) ?? []
  expect(url).toMatch(/^https:\/\/shop\..*\/mcp$/)
  const sent = api.received.map(({ body }) => body.toString()).join('\n')
  expect(sent).toContain('MAYFLY_API_KEYS')
  expect(sent).not.toContain(reader.key)
  if (target === 'cloudflare') await expectUploaded(api, newcomer)

  // What was uploaded, on this machine.
  reader.serving = newcomer.start('npx mayfly preview')
  reader.url = (await readyUrl(reader.serving)).href
}

/** The double in place of the platform, and a login. The double's host is nowhere, so what was uploaded is checked on this machine. */
function prepared(line: string, { newcomer, target }: Reader, { url }: Double): string {
  const command = `${line} --no-check`
  if (target === 'cloudflare')
    return `CLOUDFLARE_API_BASE_URL=${url}/client/v4 CLOUDFLARE_API_TOKEN=token CLOUDFLARE_ACCOUNT_ID=acc ${command}`
  // The registry has a stand-in for this tool, which is large.
  const tool = join(newcomer.cwd, 'node_modules/vercel')
  rmSync(tool, { recursive: true })
  symlinkSync(installed('vercel', 'tools'), tool)
  return `mkdir -p .vercel && echo '{ "orgId": "team_x", "projectId": "prj_x", "projectName": "shop" }' > .vercel/project.json && VERCEL_TOKEN=token VERCEL_TELEMETRY_DISABLED=1 ${command} -- --token token --api ${url}`
}

async function expectUploaded({ received }: Double, { cwd }: Newcomer): Promise<void> {
  const upload = received.find(
    ({ method, path }) => method !== 'GET' && /\/scripts\/shop(?:\/versions)?(?:\?|$)/.test(path),
  )
  const script = (await formOf(upload!)).get('server.js') as Blob
  expect(await script.text()).toBe(readFileSync(join(cwd, 'dist/cloudflare/server.js'), 'utf8'))
}

async function serveOnThisMachine(command: string, reader: Reader): Promise<void> {
  reader.serving = reader.newcomer.start(command)
  await untilListening(3000)
  expect(readFileSync(PAGE, 'utf8')).toContain('`http://127.0.0.1:3000/mcp`')
  reader.url = 'http://127.0.0.1:3000/mcp'
}

/** A variable of the reader's shell: its value is the reader's own. */
async function remember(command: string, { key, url }: Reader): Promise<void> {
  expect(command).toMatch(
    /^export SHOP_(?:URL=https:\/\/shop\.<your-subdomain>\.workers\.dev\/mcp|KEY=mk_…)$/,
  )
  expect(key).not.toBe('')
  expect(url).not.toBe('')
}

const withVariables = (command: string, { url, key }: Reader): string =>
  `export SHOP_URL=${url} SHOP_KEY=${key}; ${command}`

async function check(command: string, reader: Reader): Promise<void> {
  const { stdout } = succeeded(await reader.newcomer.run(withVariables(command, reader)))
  expect(stdout).toMatch(/^\d+ work, .*0 wrong/m)
}

async function connectClaude(command: string, reader: Reader): Promise<void> {
  succeeded(await reader.newcomer.run(withVariables(command, reader)))
  expect(existsSync(join(reader.newcomer.cwd, '.mcp.json'))).toBe(true)
}

/** As Claude Code: by its file, with the variables of its environment. */
async function askAsClaude(_command: string, reader: Reader): Promise<void> {
  const text = readFileSync(join(reader.newcomer.cwd, '.mcp.json'), 'utf8')
  expect(text).not.toContain(reader.key)
  const { mcpServers } = JSON.parse(text.replaceAll('$' + '{SHOP_KEY}', reader.key)) as {
    readonly mcpServers: {
      readonly [name: string]: { readonly url: string; readonly headers: Record<string, string> }
    }
  }
  const [{ url, headers }] = Object.values(mcpServers) as [(typeof mcpServers)[string]]
  const client = new Client({ name: 'claude-code', version: '2.0.0' })
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }))
  const { tools } = await client.listTools()
  expect(tools).toMatchObject([{ name: 'order_status', description: expect.stringContaining('order') }])
  const { structuredContent } = await client.callTool({ name: 'order_status', arguments: { order: 7 } })
  expect(structuredContent).toEqual({ status: 'on its way', arrives: 'Friday' })
  await client.close()

  const stranger = new Client({ name: 'stranger', version: '1.0.0' })
  await expect(stranger.connect(new StreamableHTTPClientTransport(new URL(url)))).rejects.toThrow()
}

function succeeded(result: Result): Result {
  expect(result, `${result.stderr}\n${result.stdout}`).toMatchObject({ code: 0 })
  return result
}
