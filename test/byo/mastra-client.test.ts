/** docs/migrate/mastra-client.md is true: its program prints the same with the real package and with ours. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { MCPClient as MastraClient } from 'mastra-mcp-1'
import ts from 'typescript'
import { expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { serve } from '../../adapters/node.ts'
import { staticTokens } from '../../src/auth.ts'
import { createPrompt, createTool, MCPServer } from '../../src/index.ts'
import { MCPClient } from '../../src/mastra-client.ts'

const page = readFileSync(new URL('../../docs/migrate/mastra-client.md', import.meta.url), 'utf8')

const stock = createTool({
  id: 'stock',
  inputSchema: z.object({ sku: z.string() }),
  outputSchema: z.object({ count: z.number() }),
  execute: async (_input, ctx) => {
    await ctx.reportProgress({ progress: 1 })
    return { count: 3 }
  },
})
const summary = createPrompt({
  argsSchema: { length: z.string() },
  get: ({ length }) => `A ${length} summary`,
})

/** What the program of the page prints, with this class as its import, and with a server on loopback. */
async function run(imported: unknown): Promise<unknown[][]> {
  const token = 'shop-token-that-is-long-enough'
  const server = new MCPServer({
    id: 'shop',
    name: 'Shop',
    version: '1.0.0',
    tools: { stock },
    prompts: { summary },
    auth: staticTokens([{ token }]),
    log: false,
  })
  const { url, close } = await serve(server, { port: 0 })
  onTestFinished(close)
  const [, block = ''] = /```ts\n([\s\S]*?)```/.exec(page) ?? []
  const body = block
    .replace(/^import .*$/m, '')
    .replace('https://shop.example/mcp', url)
    .replace('shop-token', token)
  const { outputText } = ts.transpileModule(`async function main() {${body}}`, {
    compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext },
  })
  const printed: unknown[][] = []
  const console = { log: (...values: unknown[]) => void printed.push(values) }
  const main = new Function('MCPClient', 'console', `${outputText}; return main`)(imported, console)
  await main()
  return JSON.parse(JSON.stringify(printed))
}

it('the program prints the same with the real package and with ours', async () => {
  const before = await run(MastraClient)
  const after = await run(MCPClient)

  expect(after).toEqual([
    [['shop_stock']],
    ['run-1', 1],
    [{ count: 3 }],
    [[{ role: 'user', content: { type: 'text', text: 'A short summary' } }]],
    [{}],
  ])
  expect(before).toEqual(after)
})

it('the examples of test/compat type-check with the real package, but for what only its documentation has', () => {
  const file = fileURLToPath(new URL('_mastra-client-examples.ts', import.meta.url))
  const code = readFileSync(new URL('../compat/mastra-client.ts', import.meta.url), 'utf8').replace(
    "'../../src/mastra-client.ts'",
    "'mastra-mcp-1'",
  )
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    types: ['node'],
  }
  const host = ts.createCompilerHost(options)
  const { readFile, fileExists } = host
  host.readFile = (name) => (name === file ? code : readFile(name))
  host.fileExists = (name) => name === file || fileExists(name)

  const faults = ts
    .getPreEmitDiagnostics(ts.createProgram([file], options, host))
    .filter((fault) => fault.file?.fileName === file)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '))

  // `log` of a server and `runId` of a call are in its documentation, `execute` of a tool is not optional there.
  const known = /'log' does not exist|'logMessage' implicitly|'runId' does not exist|possibly 'undefined'/
  expect(faults.filter((fault) => !known.test(fault))).toEqual([])
  expect(faults.length).toBeGreaterThan(0)
})
