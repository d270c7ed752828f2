/** `check` and `inspect` take a token and headers from a variable or stdin, so that no list of processes shows them. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { namedVariable } from '../../deploy/commands/_named-variable.ts'
import { Project, until } from './_dev-process.ts'

const CLI = fileURLToPath(new URL('../../deploy/cli.ts', import.meta.url))
const TOKEN = 'token-of-the-user'

const seen: IncomingHttpHeaders[] = []
const server = createServer((request, response) => {
  seen.push(request.headers)
  response.writeHead(404).end()
})
let url: string
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
})
afterAll(() => server.close())

async function run(
  args: readonly string[],
  stdin: string | undefined,
  cwd?: string,
): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, [CLI, ...args], {
    cwd,
    env: { ...process.env, SHOP_TOKEN: TOKEN, SHOP_KEY: 'key-of-the-user', EMPTY: '' },
    stdio: [stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  })
  const closed = once(child, 'close')
  child.stdin?.on('error', () => {}).end(stdin)
  let output = ''
  for (const stream of [child.stdout!, child.stderr!])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  // inspect serves until it is ended.
  if (args[0] === 'inspect') {
    await until(() => child.exitCode !== null || (output.includes('ready') && seen.length > 0))
    child.kill()
  }
  const [code] = await closed
  return { code: code as number | null, output }
}

describe.each(['check', 'inspect'])('mayfly %s', (command) => {
  test.each([
    ['--bearer-env', ['--bearer-env', 'SHOP_TOKEN'], undefined],
    ['--bearer -', ['--bearer', '-'], `${TOKEN}\n`],
    [
      '--header-env',
      ['--header-env', 'Authorization=SHOP_TOKEN', '--header-env', 'X-Api-Key=SHOP_KEY'],
      undefined,
    ],
  ] as const)('%s → sent, and printed nowhere', async (name, args, stdin) => {
    seen.length = 0
    const { output } = await run([command, url, ...args], stdin)
    const sent = name === '--header-env' ? TOKEN : `Bearer ${TOKEN}`
    expect(seen.length).toBeGreaterThan(0)
    expect(seen.some(({ authorization }) => authorization === sent)).toBe(true)
    if (name === '--header-env') expect(seen[0]?.['x-api-key']).toBe('key-of-the-user')
    expect(output).not.toContain(TOKEN)
  })

  test('a variable of a file → sent, and printed nowhere; that of the environment comes first', async () => {
    await using project = new Project()
    project.write('.env', `FILE_TOKEN=of-the-file\nSHOP_TOKEN=of-the-file\nOTHER_TOKEN=of-another\n`)
    project.write('.env.production', 'FILE_TOKEN=of-production\n')
    seen.length = 0
    const args = ['--bearer-env', 'FILE_TOKEN', '--header-env', 'X-Api-Key=SHOP_TOKEN']
    const { output } = await run([command, url, ...args], undefined, project.folder)
    // The server is on this machine, and so are its variables.
    const own = seen.filter(({ authorization }) => authorization === 'Bearer of-the-file')
    expect(own.length).toBeGreaterThan(0)
    expect(own[0]!['x-api-key']).toBe(TOKEN)
    expect(JSON.stringify(seen)).not.toContain('of-another')
    expect(output).not.toMatch(/of-the-file|of-production/)
  })

  test.each([
    [
      ['--bearer-env', 'MISSING_TOKEN'],
      undefined,
      'MISSING_TOKEN has no value: set it in the environment or in .env',
    ],
    [['--bearer-env', 'EMPTY'], undefined, 'EMPTY has no value: set it in the environment or in .env'],
    [
      ['--bearer-env', 'a-secret!'],
      undefined,
      '--bearer-env takes the name of an environment variable, not the secret',
    ],
    [['--header-env', 'X-Api-Key'], undefined, 'a --header-env is not Name=VARIABLE'],
    [
      ['--bearer', 'a', '--bearer-env', 'SHOP_TOKEN'],
      undefined,
      'the token is given twice: pass --bearer or --bearer-env',
    ],
    [['--bearer', '-'], '', 'the token is empty or contains spaces'],
    [['--bearer', '-'], 'x'.repeat(100_000), 'stdin is too long for a token'],
  ] as const)('%j → one line, exit code 2', async (args, stdin, message) => {
    const { code, output } = await run([command, url, ...args], stdin)
    expect({ code, output }).toEqual({ code: 2, output: `mayfly: ${message}\n` })
  })
})

test('the token of a deployed server is that of production, or of the stage', async () => {
  await using project = new Project()
  project.write('.env', 'FILE_TOKEN=of-this-machine\nPATH_TOKEN=of-this-machine\n')
  project.write('.env.production', 'FILE_TOKEN=of-production\n')
  project.write('.env.staging', 'FILE_TOKEN=of-staging\n')
  const valueFor = (name: string) => namedVariable(new URL('https://shop.example/mcp'), project.folder)(name)
  expect(['FILE_TOKEN', 'PATH_TOKEN', 'constructor'].map(valueFor)).toEqual([
    'of-production',
    'of-this-machine',
    undefined,
  ])
  vi.stubEnv('MAYFLY_STAGE', 'staging')
  expect(valueFor('FILE_TOKEN')).toBe('of-staging')
  vi.unstubAllEnvs()
})
