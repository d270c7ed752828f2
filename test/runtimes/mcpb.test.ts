/** A desktop bundle: valid to the tool of the format, unpacked by it, and driven over stdio as a desktop application does. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js'
import { expect, test } from 'vitest'
import { MCPClient } from '../../src/client.ts'
import { MayflyProcess, type Output, Project } from '../cli/_dev-process.ts'
import { WRAPPED_SERVERS } from '../cli/_wrapped-servers.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const TOOL = fileURLToPath(new URL('mcpb/node_modules/.bin/mcpb', import.meta.url))
const TIMEOUT_MS = 120_000

const SERVER = `import { createTool, MCPServer } from 'mayfly-mcp'
import * as z from 'zod'
console.log('a line that must not reach the client')
const greet = createTool({
  id: 'greet', description: 'Greets', inputSchema: z.object({ name: z.string() }),
  execute: ({ name }, ctx) => \`Hello \${name} from \${ctx.env.REGION ?? 'nowhere'}\`,
})
export default new MCPServer({ id: 'greeter', name: 'Greeter', version: '1.2.3', description: 'Greets people', tools: { greet } })
`

function arrange(source = SERVER): Project {
  const project = new Project()
  mkdirSync(join(project.folder, 'node_modules'))
  symlinkSync(ROOT, join(project.folder, 'node_modules/mayfly-mcp'))
  symlinkSync(join(ROOT, 'node_modules/zod'), join(project.folder, 'node_modules/zod'))
  project.write('server.ts', source)
  project.write(
    'package.json',
    JSON.stringify({ name: 'greeter', author: 'Ann <ann@example.com>', license: 'MIT' }),
  )
  return project
}

function build(project: Project, ...args: string[]): Promise<Output> {
  return new MayflyProcess(['build', '--target', 'mcpb', ...args], project.folder).exited
}

/** By the format's own tool; throws where it exits with another code than 0. */
function mcpb(project: Project, ...args: string[]): string {
  return execFileSync(process.execPath, [TOOL, ...args], { cwd: project.folder, encoding: 'utf8' })
}

test('is valid, is unpacked, and is driven over stdio in both eras', { timeout: TIMEOUT_MS }, async () => {
  await using project = arrange()

  const { code, stdout, stderr } = await build(project, '--env', 'REGION')

  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(/^built dist\/mcpb\/greeter\.mcpb: [\d.]+ KB, [\d.]+ KB gzipped\n$/)
  mcpb(project, 'validate', 'dist/mcpb/bundle/manifest.json')
  mcpb(project, 'unpack', 'dist/mcpb/greeter.mcpb', 'unpacked')
  const folder = join(project.folder, 'unpacked')
  const unpacked = readdirSync(folder, { recursive: true }).map(String).sort()
  expect(unpacked.filter((name) => !/^server\/[\w.-]+-[A-Z\d]{8}\.mjs$/.test(name))).toEqual([
    'manifest.json',
    'server',
    'server/index.mjs',
  ])
  const manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'))
  expect(manifest).toMatchObject({
    name: 'greeter',
    display_name: 'Greeter',
    version: '1.2.3',
    description: 'Greets people',
    author: { name: 'Ann', email: 'ann@example.com' },
    license: 'MIT',
    tools: [{ name: 'greet', description: 'Greets' }],
    user_config: { REGION: { type: 'string', sensitive: true, required: true } },
  })
  const { args, env } = manifest.server.mcp_config as { args: string[]; env: Record<string, string> }
  expect(env).toEqual({ REGION: `\${user_config.REGION}` })
  const started = {
    command: process.execPath,
    args: args.map((arg) => arg.replace(`\${__dirname}`, folder)),
    env: { REGION: 'eu' },
    cwd: '/',
  }

  const legacy = new ClientV1({ name: 'desktop', version: '1' })
  await legacy.connect(new StdioV1({ ...started, stderr: 'ignore' }))
  const answer = await legacy.callTool({ name: 'greet', arguments: { name: 'Ann' } })
  await legacy.close()
  expect(answer.content).toEqual([{ type: 'text', text: 'Hello Ann from eu' }])

  const modern = new MCPClient({ servers: { greeter: { ...started, stderr: 'ignore' } } })
  const tools = await modern.listTools()
  await modern.disconnect()
  expect(Object.keys(tools)).toEqual(['greeter_greet'])
})

test('the same server makes the same bytes', { timeout: TIMEOUT_MS }, async () => {
  await using project = arrange()
  await build(project, '--out', 'one')
  await build(project, '--out', 'two', '--quiet')
  const [one, two] = ['one', 'two'].map((out) => readFileSync(join(project.folder, out, 'greeter.mcpb')))
  expect(one!.equals(two!)).toBe(true)
})

test.for(WRAPPED_SERVERS)(
  'holds the server that has %s around it',
  { timeout: TIMEOUT_MS },
  async ([, source]) => {
    await using project = arrange(source)

    const { code, stderr } = await build(project)

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const client = new ClientV1({ name: 'desktop', version: '1' })
    const args = [join(project.folder, 'dist/mcpb/bundle/server/index.mjs')]
    await client.connect(new StdioV1({ command: process.execPath, args, cwd: '/', stderr: 'ignore' }))
    const answer = await client.callTool({ name: 'hello' })
    await client.close()
    expect(answer.content).toEqual([{ type: 'text', text: 'hello' }])
  },
)

test('an app is refused, with the module that is not one', { timeout: TIMEOUT_MS }, async () => {
  await using project = arrange(`import { Hono } from 'hono'
import { mcp } from 'mayfly-mcp/hono'
${SERVER.replace('export default', 'const server =')}
export default new Hono().all('/mcp', mcp(server))`)
  symlinkSync(join(ROOT, 'node_modules/hono'), join(project.folder, 'node_modules/hono'))

  const { code, stderr } = await build(project)

  expect(code).toBe(1)
  expect(stderr).toMatch(/^mayfly: the entry exports an app, [^\n]*\n$/)
})

test('a server that stdio cannot serve, and a value in place of a variable, are refused', {
  timeout: TIMEOUT_MS,
}, async () => {
  await using project = arrange(`export default { fetch: () => new Response('hello') }`)

  const foreign = await build(project)
  const value = await build(project, '--env', 'KEY=secret')

  expect(foreign).toMatchObject({ code: 1, stderr: expect.stringContaining('does not export an MCPServer') })
  expect(value).toMatchObject({
    code: 2,
    stderr: 'mayfly: --env takes the name of a variable, not its value\n',
  })
  expect(existsSync(join(project.folder, 'dist'))).toBe(false)
})
