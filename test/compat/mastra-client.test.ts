/** Who comes from Mastra's `MCPClient` changes the import: the examples of its documentation type-check and run. */
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { serve } from '../../adapters/node.ts'
import { staticTokens } from '../../src/auth.ts'
import {
  createMemoryBus,
  createPrompt,
  createResource,
  createTool,
  MCPServer,
  type MCPServerConfig,
} from '../../src/index.ts'
import { createOAuthProvider, MCPClient } from '../../src/mastra-client.ts'
import * as examples from './mastra-client.ts'

const EXAMPLES = fileURLToPath(new URL('mastra-client.ts', import.meta.url))

const getForecast = createTool({
  id: 'getForecast',
  execute: async (_input, ctx) => {
    await ctx.reportProgress({ progress: 1, total: 2, message: 'half' })
    await ctx.log('info', 'looked at the sky')
    return 'Rain'
  },
})
const order = createTool({
  id: 'order',
  execute: async (_input, ctx) => {
    const answer = await ctx.elicit('Where to?', z.object({ city: z.string().meta({ title: 'City' }) }))
    return answer.action === 'accept' ? answer.content.city : answer.action
  },
})
const current = createResource({ uri: 'weather://current', name: 'current', read: () => '15 degrees' })
const prompt = createPrompt({
  argsSchema: { location: z.string() },
  get: ({ location }) => `The weather in ${location}`,
})

async function start(config: Partial<MCPServerConfig> = {}): Promise<URL> {
  const server = new MCPServer({
    id: 'weather',
    name: 'Weather',
    version: '1.0.0',
    instructions: 'Ask for a city.',
    tools: { getForecast, order },
    resources: [current],
    prompts: { current: prompt },
    bus: createMemoryBus(),
    log: false,
    ...config,
  })
  const { url, close } = await serve(server, { port: 0 })
  onTestFinished(close)
  return new URL(url)
}

function ending<Client extends MCPClient>(client: Client): Client {
  onTestFinished(() => client.disconnect())
  return client
}

it('the examples type-check with --strict, as in a project of a user’s own', () => {
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    allowImportingTsExtensions: true,
    types: ['node'],
  }
  const faults = ts
    .getPreEmitDiagnostics(ts.createProgram([EXAMPLES], options))
    .filter(({ file }) => file?.fileName === EXAMPLES)

  expect(faults.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '))).toEqual([])
})

it('Static Tool Configuration: tools, logs, resources and prompts', async () => {
  const lines: string[] = []
  const mcp = ending(examples.configure(await start(), await start(), (line) => lines.push(line)))

  const tools = await mcp.listTools()
  await tools.stockPrice_getForecast!.execute({})

  expect(Object.keys(tools)).toEqual(
    expect.arrayContaining(['stockPrice_getForecast', 'weather_getForecast', 'weather_order']),
  )
  expect(lines).toEqual(['[info] looked at the sky'])
  expect(await examples.checkWeatherResource(mcp)).toBe('15 degrees')
  expect(await examples.checkWeatherPrompt(mcp)).toMatchObject({ name: 'current' })
})

it('Static Tool Configuration: a process gets its env', async () => {
  const server = fileURLToPath(new URL('../unit/client/_stdio-v2.ts', import.meta.url))
  const mcp = ending(examples.configureProcess(process.execPath, [server]))

  const { stockPrice } = await mcp.listToolsets()

  expect(Object.keys(stockPrice!).length).toBeGreaterThan(0)
})

it('Dynamic toolsets: requestInit of a server carries the user’s token', async () => {
  const auth = staticTokens([{ token: 'user-123-token-which-is-long' }])
  const refused = ending(examples.configureForUser(await start({ auth })))
  const open = ending(examples.configureForUser(await start()))

  expect(Object.keys((await open.listToolsets()).weather!)).toEqual(
    expect.arrayContaining(['getForecast', 'order']),
  )
  await expect(refused.callTool('weather', 'getForecast')).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
})

it('…WithErrors, definitions and instructions', async () => {
  const mcp = ending(new MCPClient({ servers: { weather: { url: await start() } } }))
  const { tool, tools } = await examples.cacheDefinitions(mcp, new Map())

  expect(await examples.listWithErrors(mcp)).toMatchObject({ names: expect.any(Array), errors: {} })
  expect(await examples.listToolsetsWithErrors(mcp)).toMatchObject({ servers: ['weather'], errors: {} })
  expect(await tool.execute({})).toMatchObject({ content: [{ text: 'Rain' }] })
  expect(Object.keys(tools)).toEqual(expect.arrayContaining(['weather_getForecast', 'weather_order']))
  expect(await examples.readInstructions(mcp)).toBe('Ask for a city.')
})

it('resources, questions and prompts', async () => {
  const mcp = ending(new MCPClient({ servers: { weather: { url: await start() } } }))
  const lines: string[] = []
  await examples.answerQuestions(mcp)

  await examples.useResources(mcp, (line) => lines.push(line))
  const messages = await examples.usePrompts(mcp)
  const { content } = await mcp.callTool('weather', 'order')

  expect(lines).toEqual(['Resources from weather: 1', 'Templates from weather: 0'])
  expect(messages).toMatchObject([{ content: { text: 'The weather in London' } }])
  expect(content).toMatchObject([{ text: 'City!' }])
})

it('progress: by runId, and none where it is switched off', async () => {
  const lines: string[] = []

  await examples.followProgress(await start(), await start(), (line) => lines.push(line))

  expect(lines).toEqual(['1 / 2', 'Message: half', 'Token: run-1'])
})

it('a custom fetch carries the token; a custom storage fits createOAuthProvider', async () => {
  const token = 'a-token-that-is-long-enough'
  const url = await start({ auth: staticTokens([{ token }]) })
  const mcp = ending(examples.configureFetch(url, async () => token))

  expect(await mcp.callTool('weather', 'getForecast')).toMatchObject({ content: [{ text: 'Rain' }] })
  createOAuthProvider({
    storage: new examples.DatabaseOAuthStorage('user-123'),
    redirectUrl: 'http://localhost:3000/callback',
    onRedirect: () => {},
  })
})

it('a custom fetch that spreads init.headers sends all of them', async () => {
  const token = 'a-token-that-is-long-enough'
  const url = await start({ auth: staticTokens([{ token }]) })
  const mcp = ending(examples.configureSpreadingFetch(url, token))

  expect(await mcp.callTool('weather', 'getForecast')).toMatchObject({ content: [{ text: 'Rain' }] })
})

it('for (const server in …) over what is listed by server', async () => {
  expect(await examples.listByServer(await start())).toEqual([
    'Resources from weather: 1',
    'Templates from weather: 0',
    'Prompt current',
    'getForecast',
    'order',
  ])
})

it.each(examples.REFUSED)('%s → TypeError that names what to write instead', (_example, server, remedy) => {
  const config = { servers: { a: { url: new URL('https://mcp.example/mcp'), ...server } } }

  expect(() => new MCPClient(config)).toThrow(TypeError)
  expect(() => new MCPClient(config)).toThrow(remedy)
})

it('Instance management: a second client of one configuration throws, until it has an id or the first has ended', async () => {
  const servers = { a: { url: new URL('https://mcp.example/mcp') } }
  const mcp1 = ending(new MCPClient({ servers }))

  expect(() => new MCPClient({ servers })).toThrow()

  ending(new MCPClient({ id: 'instance-1', servers }))
  await mcp1.disconnect()
  ending(new MCPClient({ servers }))
})
