/** What reaches the client of a server over stdio: messages alone, whatever its code prints; and how a connection ends. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, test } from 'vitest'
import { areAlive, Project, until } from './_dev-process.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const CLI = join(ROOT, 'deploy/cli.ts')

/** Prints in every way that goes through `process.stdout`, each word with a number. */
const PRINT = `
  import { Readable } from 'node:stream'
  import { Worker } from 'node:worker_threads'
  const { log: early } = console
  const { stdout: early2 } = process
  async function print(word) {
    console.log(word + ' 1')
    console.info(word + ' 2')
    console.debug(word + ' 3')
    console.dir(word + ' 4')
    console.dirxml(word + ' 5')
    console.table([word + ' 6'])
    console.group(word + ' 7')
    console.groupEnd()
    console.count(word + ' 8')
    console.time(word + ' 9')
    console.timeLog(word + ' 9')
    console.timeEnd(word + ' 9')
    early(word + ' 10')
    early2.write(word + ' 11\\n')
    process.stdout.write(Buffer.from(word + ' 12\\n'), () => {})
    process.stdout.cork()
    process.stdout.write(word + ' 13\\n', 'utf8')
    new console.Console(process.stdout).log(word + ' 14')
    await new Promise((done) => {
      Readable.from([word + ' 15\\n', 'x'.repeat(300000) + '\\n']).on('end', done).pipe(process.stdout)
    })
    await new Promise((done) => {
      new Worker('console.log(' + JSON.stringify(word + ' 16') + ')', { eval: true }).on('exit', done)
    })
    process.stdout.end(word + ' 17\\n')
    process.stdout.destroy()
    console.log(word + ' 18')
  }
`
const LAST = 18

/** Past `process.stdout`: the file descriptor itself, and what a child process inherits. */
const PRINT_BELOW = `
  import { spawnSync } from 'node:child_process'
  import { writeSync } from 'node:fs'
  function printBelow(word) {
    writeSync(1, word + ' written\\n')
    spawnSync('echo', [word + ' inherited'], { stdio: 'inherit' })
  }
`

const serverSource = (print: string): string => `
  import { createTool, jsonSchema, MCPServer } from 'mayfly-mcp'
  ${print}
  const server = new MCPServer({
    id: 'desk',
    name: 'Desk',
    version: '1.0.0',
    tools: {
      loud: createTool({ id: 'loud', execute: async () => { await everything('tool'); return 'said' } }),
      size: createTool({
        id: 'size',
        inputSchema: jsonSchema({ type: 'object', properties: { text: { type: 'string' } } }),
        execute: ({ text }) => String(text.length),
      }),
      block: createTool({ id: 'block', execute: () => new Promise(() => {}) }),
    },
  })
`

/** Under `mayfly stdio`. */
const HOSTED = `${serverSource(`${PRINT}${PRINT_BELOW}
  const everything = async (word) => { await print(word); printBelow(word) }
  await everything('module')`)}
  export default server`

/** In a program of somebody's own. */
const EMBEDDED = `${serverSource(`${PRINT}
  const everything = print`)}
  import { startStdio } from 'mayfly-mcp/node'
  const { closed } = await startStdio(server)
  await print('program')
  closed.catch((error) => { console.error('ended: ' + error.message); process.exitCode = 3 })`

const QUIET = `${serverSource('const everything = () => {}')}
  export default server`
const QUIET_EMBEDDED = EMBEDDED.replace("await print('program')", '')

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean()
})

interface Running {
  readonly child: ChildProcess
  readonly project: Project
  /** Whole lines so far. */
  lines(): string[]
  errors(): string
  send(message: object | string): void
  readonly exited: Promise<number | null>
}

function start(source: string, how: 'mayfly stdio' | 'a program'): Running {
  const project = new Project()
  cleanups.push(() => project[Symbol.asyncDispose]())
  project.linkPackage()
  project.write('package.json', '{ "type": "module" }')
  const file = how === 'a program' ? 'server.mjs' : 'server.ts'
  project.write(file, source)
  const args = how === 'a program' ? [join(project.folder, file)] : [CLI, 'stdio', file]
  const child = spawn(process.execPath, args, { cwd: project.folder, stdio: 'pipe' })
  cleanups.push(() => child.kill('SIGKILL'))
  let [output, errors] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text
  })
  child.stdin.on('error', () => {})
  return {
    child,
    project,
    lines: () => output.split('\n').slice(0, -1),
    errors: () => errors,
    send: (message) =>
      void child.stdin.write(typeof message === 'string' ? message : `${JSON.stringify(message)}\n`),
    exited: once(child, 'close').then(([code]) => code as number | null),
  }
}

const call = (id: number, name: string, args: object = {}): object => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: args },
})

const idOf = (line: string): unknown => (JSON.parse(line) as { id?: unknown }).id

const CASES = [
  ['mayfly stdio', HOSTED, ['module', 'tool']],
  ['a program', EMBEDDED, ['program', 'tool']],
] as const

describe('stdout carries messages alone', { timeout: 180_000 }, () => {
  test.for(CASES)('%s', async ([how, source, words]) => {
    const { child, lines, errors, send, exited } = start(source, how)
    send(call(1, 'loud'))
    await until(() => lines().length >= 1)
    // The transport goes on after whatever the server did to stdout.
    send(call(2, 'size', { text: 'x'.repeat(2_000_000) }))
    await until(() => lines().length >= 2)
    // When the connection has ended, stdout is the program's again.
    await until(() => words.every((word) => new RegExp(`${word} ${LAST}\\b`).test(errors())))
    child.stdin?.end()

    expect(await exited, errors()).toBe(0)
    expect(lines().map(idOf)).toEqual([1, 2])
    expect(lines()[1]).toContain('"2000000"')
    for (const word of words) {
      for (let n = 1; n <= LAST; n++) expect(errors(), `${word} ${n}`).toMatch(new RegExp(`${word} ${n}\\b`))
      if (how === 'mayfly stdio') {
        expect(errors()).toContain(`${word} written\n`)
        expect(errors()).toContain(`${word} inherited\n`)
      }
    }
  })

  test('stdout is given back when the connection ends, and taken once', async () => {
    const source = `${serverSource('const everything = () => {}')}
      import { startStdio } from 'mayfly-mcp/node'
      const first = await startStdio(server)
      await startStdio(server).catch((error) => console.error('second: ' + error.message))
      console.log('diverted')
      await first.close()
      await first.closed
      console.log('given back')
      process.stdout.write('for good\\n')`
    const { lines, errors, exited } = start(source, 'a program')
    expect(await exited).toBe(0)
    expect(lines()).toEqual(['given back', 'for good'])
    expect(errors()).toMatch(/^second: [^\n]+ already[^\n]+\ndiverted\n$/)
  })
})

describe('a line that never ends', { timeout: 180_000 }, () => {
  test.for([
    ['mayfly stdio', QUIET, 1, /^mayfly: A line exceeded the limit of 10000000 bytes[^\n]+\n$/],
    ['a program', QUIET_EMBEDDED, 3, /ended: A line exceeded the limit of 10000000 bytes[^\n]+\n$/],
  ] as const)('%s → a JSON-RPC error, a line on stderr, exit code', async ([how, source, code, said]) => {
    const { lines, errors, send, exited } = start(source, how)
    send(call(1, 'size', { text: 'x'.repeat(9_000_000) }))
    await until(() => lines().length >= 1)
    for (let n = 0; n < 30; n++) send('x'.repeat(1_000_000))

    expect(await exited).toBe(code)
    const [first, refusal, ...others] = lines().map(
      (line) => JSON.parse(line) as { error?: { code: number } },
    )
    expect(first).toMatchObject({ id: 1, result: { content: [{ text: '9000000' }] } })
    expect(refusal?.error).toMatchObject({ code: -32600 })
    expect(others).toEqual([])
    expect(errors()).toMatch(said)
  })
})

test('a larger http.maxBodyBytes is the limit of a line, too', { timeout: 180_000 }, async () => {
  const source = QUIET.replace(
    "version: '1.0.0',",
    "version: '1.0.0',\n    http: { maxBodyBytes: 12_000_000 },",
  )
  expect(source).toContain('12_000_000')
  const { lines, errors, send, exited } = start(source, 'mayfly stdio')
  send(call(1, 'size', { text: 'x'.repeat(11_000_000) }))
  await until(() => lines().length >= 1)
  expect(JSON.parse(lines()[0]!)).toMatchObject({ result: { content: [{ text: '11000000' }] } })
  send('x'.repeat(12_500_000))
  expect(await exited).toBe(1)
  expect(errors()).toMatch(/^mayfly: A line exceeded the limit of 12000000 bytes[^\n]+\n$/)
})

describe('the end', { timeout: 180_000 }, () => {
  test.for([
    ['SIGTERM', 0],
    ['SIGINT', 0],
    ['SIGHUP', 0],
    ['SIGKILL', null],
  ] as const)('%s → exit code %s, no process and no file left', async ([signal, code]) => {
    const { child, project, lines, send, exited } = start(QUIET, 'mayfly stdio')
    send(call(1, 'block'))
    send({ jsonrpc: '2.0', id: 2, method: 'ping' })
    await until(() => lines().length >= 1)
    const host = childrenOf(child.pid ?? 0)
    // And the one that sees to it if this one is killed.
    expect(host).toHaveLength(2)
    // Its client does not close its end.
    child.kill(signal)
    expect(await exited).toBe(code)
    await until(() => !areAlive(host))
    if (signal === 'SIGKILL') return
    expect(readdirSync(join(project.folder, 'node_modules/.mayfly'))).toEqual([])
  })

  test.for([
    ['SIGTERM', 0],
    ['SIGKILL', null],
  ] as const)('%s while its code is in a loop → exit code %s, no process left', async ([signal, code]) => {
    const source = `import { createTool, MCPServer } from 'mayfly-mcp'
      const spin = createTool({ id: 'spin', execute: () => { for (;;); } })
      export default new MCPServer({ id: 'desk', name: 'Desk', version: '1.0.0', tools: { spin } })`
    const { child, lines, send, exited } = start(source, 'mayfly stdio')
    send({ jsonrpc: '2.0', id: 1, method: 'ping' })
    await until(() => lines().length >= 1)
    send(call(2, 'spin'))
    const host = childrenOf(child.pid ?? 0).filter((pid) => commandOf(pid).includes('stdio-host'))
    expect(host).toHaveLength(1)
    child.kill(signal)
    expect(await exited).toBe(code)
    await until(() => !areAlive(host))
  })

  test('SIGTERM while it is still loading', async () => {
    const source = `import { writeFileSync } from 'node:fs'
      writeFileSync('loading', '')
      await new Promise((resolve) => setTimeout(resolve, 60_000))
      export default {}`
    const { child, project, exited, errors } = start(source, 'mayfly stdio')
    await until(() => existsSync(join(project.folder, 'loading')))
    const host = childrenOf(child.pid ?? 0)
    child.kill('SIGTERM')
    expect(await exited).toBe(0)
    expect(errors()).toBe('')
    await until(() => !areAlive(host))
  })

  test('a server that ends its process → one line, its exit code named', async () => {
    const source = `import { createTool, MCPServer } from 'mayfly-mcp'
      const quit = createTool({ id: 'quit', execute: () => process.exit(7) })
      process.send?.('ready')
      export default new MCPServer({ id: 'desk', name: 'Desk', version: '1.0.0', tools: { quit } })`
    const { send, exited, errors } = start(source, 'mayfly stdio')
    send(call(1, 'quit'))
    expect(await exited).toBe(1)
    expect(errors()).toMatch(/^mayfly: server\.ts ended its process with exit code 7: [^\n]+\n$/)
  })
})

function commandOf(pid: number): string {
  return spawnSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' }).stdout
}

function childrenOf(pid: number): number[] {
  const { stdout } = spawnSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' })
  return stdout.trim().split(/\s+/).filter(Boolean).map(Number)
}
