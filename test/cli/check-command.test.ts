/** `mayfly check` as a command: what it prints, its exit codes, and what it never prints. */
import { createServer } from 'node:https'
import { describe, expect, test } from 'vitest'
import { nodeListener } from '../../adapters/node.ts'
import { renderTable } from '../../deploy/check/report.ts'
import { testPort } from '../_port.ts'
import { CERTIFICATE, trustingTestCertificate } from './_certificate.ts'
import { runCheck as check } from './_check-command.ts'
import {
  broken,
  createMayfly,
  listen,
  listenOn,
  mayfly,
  protectedServer,
  sdkV2,
  TOKEN,
  withJson,
} from './_check-servers.ts'
import type { Output } from './_dev-process.ts'

function expectOneLine({ code, stdout, stderr }: Output, ...words: string[]): void {
  expect(stderr).toMatch(/^mayfly: [^\n]+\n$/)
  for (const word of words) expect(stderr).toContain(word)
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
}

test('a server without a fault: a plain, aligned table, and exit code 0', async () => {
  await using server = await mayfly()
  const { code, stdout, stderr } = await check([server.url.href])
  const lines = stdout.trimEnd().split('\n')
  const rows = lines.filter((line) => /^ {2}(works|skipped) /.test(line))

  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).not.toContain('\x1b')
  expect(lines[0]).toBe(`${server.url.href}  Shop 1.2.3  modern and legacy`)
  expect(lines.at(-3)).toMatch(/^\d+ work, 0 degrade, 0 wrong, \d+ skipped$/)
  expect(lines.at(-1)).toMatch(/^Next: run this again with --as all, /)
  expect(rows.length).toBeGreaterThan(60)
  const [works] = /works +a foreign Origin +/.exec(stdout)!
  const [skipped] = /skipped +TLS +/.exec(stdout)!
  expect(works).toHaveLength(skipped.length)
})

test('something wrong → exit code 1, and each with what to do', async () => {
  await using server = await sdkV2()
  const { code, stdout } = await check([server.url.href])

  expect(code).toBe(1)
  expect(stdout).toMatch(
    / {2}wrong {5}a foreign Origin +served .* {2}\[security\.origin\]\n {12}fix: answer 403 /,
  )
  expect(stdout).toMatch(
    /, 2 wrong, \d+ skipped\n\nNext: mend what is marked "wrong", then run this again\n$/,
  )
})

const LOCKED =
  'the server wants a token or an API key, so \\d\\d of \\d\\d probes were skipped: [^\\n]* pass --bearer-env MCP_TOKEN\n'

describe('a server that wants a key', () => {
  test('without one: one line says which option to give, and then what was judged, and nothing else', async () => {
    await using server = await protectedServer()
    const { code, stdout, stderr } = await check([server.url.href])

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(new RegExp(`^${server.url.href}\n\n401: ${LOCKED}\n`))
    expect(stdout).toMatch(/works +an invalid token is 401/)
    // No skipped probe, and no topic in which nothing was judged.
    expect(stdout).not.toMatch(/^ {2}skipped|needs a token|^Modern requests$/m)
    expect(stdout).toMatch(
      /\d\d skipped\n\nNext: run this again with a token, as in --bearer-env MCP_TOKEN\n$/,
    )
  })

  test('--json: every probe is in the document, and the line is on stderr', async () => {
    await using server = await protectedServer()
    const { code, stdout, stderr } = await check([server.url.href, '--json'])
    const { results } = JSON.parse(stdout) as { results: { detail: string }[] }

    expect(code).toBe(0)
    expect(results.filter(({ detail }) => detail.startsWith('needs a token')).length).toBeGreaterThan(40)
    expect(stderr).toMatch(new RegExp(`^mayfly: ${LOCKED}$`))
  })

  test('with another one: the line says that it is refused', async () => {
    await using server = await protectedServer()
    const { code, stdout } = await check([server.url.href, '--bearer-env', 'T'], { T: 'of-another-server' })

    expect(code).toBe(1)
    expect(stdout).toMatch(/\n\n401: the server refuses this token, so \d\d of \d\d probes were skipped: /)
    expect(stdout).toMatch(/wrong +the given token is accepted/)
    expect(stdout).not.toMatch(/^ {2}skipped/m)
  })

  test('with it: no line, and the skipped probes are shown', async () => {
    await using server = await protectedServer()
    const { stdout, stderr } = await check([server.url.href, '--bearer-env', 'T'], { T: TOKEN })
    expect(stderr).toBe('')
    expect(stdout).not.toContain('401: ')
    expect(stdout).toMatch(/^ {2}skipped/m)
  })
})

describe('a site that is no MCP server', () => {
  const site = () =>
    listen((_request, response) => {
      response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>Not found</h1>')
    })

  test('two lines, and exit code 1', async () => {
    await using server = await site()
    const { code, stdout, stderr } = await check([server.url.href])
    const [first, second, ...others] = stdout.split('\n')

    expect({ code, stderr, others }).toEqual({ code: 1, stderr: '', others: [''] })
    expect(first).toBe(
      `wrong     ${server.url.href} does not answer MCP: HTTP 404 with text/html, no JSON-RPC  [${'eras.any'}]`,
    )
    expect(second).toMatch(/^ {10}fix: check the path: /)
  })

  test('status 500 → to look at the log, not at the path', async () => {
    await using server = await listen((_request, response) => response.writeHead(500).end('oops'))
    expect((await check([server.url.href])).stdout).toMatch(/\n {10}fix: look at the log of the server/)
  })

  test('--json: one result', async () => {
    await using server = await site()
    const { code, stdout } = await check([server.url.href, '--json'])

    expect(code).toBe(1)
    expect(JSON.parse(stdout)).toMatchObject({
      server: null,
      eras: [],
      summary: { works: 0, degrades: 0, wrong: 1, skipped: 0 },
      results: [{ id: 'eras.any', verdict: 'wrong' }],
    })
  })

  test('it is asked five times at most', async () => {
    let count = 0
    await using server = await listen((_request, response) => {
      count += 1
      response.writeHead(404).end()
    })
    await check([server.url.href])

    expect(count).toBeLessThanOrEqual(5)
  })
})

test('--json prints one document of the documented shape', async () => {
  await using server = await sdkV2()
  const { code, stdout } = await check([server.url.href, '--json'])
  const report = JSON.parse(stdout)

  expect(code).toBe(1)
  expect(Object.keys(report)).toEqual(['url', 'server', 'eras', 'summary', 'results'])
  expect(report).toMatchObject({
    url: server.url.href,
    server: { name: 'Official', version: '2.0.0' },
    eras: ['modern', 'legacy'],
    summary: { works: expect.any(Number), degrades: 3, wrong: 2, skipped: expect.any(Number) },
  })
  const ids = report.results.map(({ id }: { id: string }) => id)
  expect(new Set(ids).size).toBe(ids.length)
  for (const result of report.results) {
    expect(result).toMatchObject({
      topic: expect.any(String),
      id: expect.stringMatching(/^[a-z]+\.[a-zA-Z\d.-]+$/),
      title: expect.any(String),
      spec: expect.stringMatching(/^https:/),
      verdict: expect.stringMatching(/^(works|degrades|wrong|skipped)$/),
      detail: expect.any(String),
    })
    expect('fix' in result).toBe(/degrades|wrong/.test(result.verdict))
  }
  const warm = report.results.find(({ id }: { id: string }) => id === 'latency.warm')
  expect(warm.measured).toEqual({
    medianMs: expect.any(Number),
    worstMs: expect.any(Number),
    firstByteMs: expect.any(Number),
  })
})

test('a table for a terminal is coloured', () => {
  const results = [
    { topic: 'Eras', id: 'eras.any', title: 'answers', spec: '', verdict: 'wrong', detail: 'no', fix: 'do' },
  ] as const
  const report = { server: undefined, eras: [], results }

  expect(renderTable(report, 'https://shop.example/mcp', true)).toContain('\x1b[31mwrong   \x1b[39m')
  expect(renderTable(report, 'https://shop.example/mcp', false)).not.toContain('\x1b')
})

test('--help, and exit code 0', async () => {
  const { code, stdout } = await check(['--help'])

  expect(code).toBe(0)
  expect(stdout).toMatch(/^mayfly check <url>/)
})

describe('a bad command line is one line, and exit code 2', () => {
  const url = 'https://shop.example/mcp'
  test.for([
    { args: [], words: ['pass its URL'] },
    { args: [url, url], words: ['one URL'] },
    { args: ['shop.example/mcp'], words: ['http://'] },
    { args: ['ftp://shop.example/mcp'], words: ['http://'] },
    { args: ['https://user:hunter22@shop.example/mcp'], words: ['password'] },
    { args: [url, '--timeout', '0'], words: ['"0" is not a valid timeout'] },
    { args: [url, '--timeout', 'soon'], words: ['"soon" is not a valid timeout'] },
    { args: [url, '--deadline', '\x1b[2J'], words: [String.raw`"\u001b[2J" is not a valid deadline`] },
    { args: [url, '--header', 'hunter22'], words: ["pass 'Name: value'"] },
    { args: [url, '--header', 'X-Key: a\r\nHost: b'], words: ["pass 'Name: value'"] },
    {
      args: [url, '--header', 'Content-Length: 5'],
      words: ['--header Content-Length is set by check'],
    },
    { args: [url, '--bearer', 'hunter 22'], words: ['the token is empty or contains spaces'] },
    { args: [url, '--origin', 'shop'], words: ['"shop" is not an origin'] },
    { args: [url, '--nonsense'], words: ['--nonsense'] },
  ])('$args', async ({ args, words }) => {
    const output = await check(args)

    expectOneLine(output, ...words)
    expect(output.stderr).not.toMatch(/hunter/)
  })
})

describe('nothing answers: one line, and exit code 2', () => {
  test('refused', async () => {
    const port = await testPort()

    expectOneLine(await check([`http://127.0.0.1:${port}/mcp`]), 'the connection is refused')
  })

  test('a server that hangs, within the timeout', async () => {
    await using server = await listen(() => {})

    expectOneLine(await check([server.url.href, '--timeout', '200']), 'no answer within 200 ms')
  })

  test('a server that hangs up', async () => {
    await using server = await listen((request) => void request.socket.destroy())

    expectOneLine(await check([server.url.href, '--json']), 'closed without an answer')
  })

  test('a certificate that nobody trusts', async () => {
    await using server = await listenOn(
      createServer(CERTIFICATE, nodeListener(createMayfly(), { hostname: '127.0.0.1' })),
      'https',
    )

    expectOneLine(await check([server.url.href]), 'self-signed certificate')
  })
})

test('https with a trusted certificate', async () => {
  const trusting = trustingTestCertificate()
  await using server = await listenOn(
    createServer(CERTIFICATE, nodeListener(createMayfly(), { hostname: '127.0.0.1' })),
    'https',
  )
  const { code, stdout } = await check([server.url.href], trusting)

  expect(code).toBe(0)
  expect(stdout).toMatch(/works +TLS +TLSv1\.3, certificate valid for \d+ days/)
})

describe('what is never printed', () => {
  const secretsOf = ({ headers, url }: Request): (string | null)[] => [
    headers.get('authorization'),
    headers.get('x-key'),
    new URL(url).search,
  ]
  let turn = 0
  const echoing = () =>
    broken(async (request, next) =>
      withJson(await next(), (message) => ({
        ...message,
        error: message.error && {
          code: -32099, // nothing expects it, so that the message is shown
          // Clipped in the middle of what it sends back.
          message: `${'x'.repeat(90)} ${secretsOf(request)[turn++ % 3]}`,
        },
      })),
    )

  test('the token, a header’s value or a query, though the server sends them back', async () => {
    await using server = await echoing()
    const args = [`${server.url.href}?key=hunter22`, '--header', 'X-Key: correct-horse']
    const token = ['--bearer', TOKEN]
    for (const more of [token, [...token, '--json'], ['--header', `Authorization: Bearer ${TOKEN}`]]) {
      const { stdout, stderr } = await check([...args, ...more])

      expect(stdout).toMatch(/x (Bearer \[s|\[secret|\?key=)/)
      expect(stdout + stderr).not.toMatch(/the-right|hunter|correct/)
    }
  })

  test('what would steer a terminal', async () => {
    await using server = await mayfly({ name: 'Shop\x1b[2J\x07\u202e' })
    const { stdout } = await check([server.url.href])

    expect(stdout).toMatch(/ {2}Shop\\u001b\[2J\\u0007\\u202e 1\.2\.3 /)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there.
    expect(stdout).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]/)
  })
})

test('a query value or a header that is a word of the protocol changes no verdict', async () => {
  await using server = await mayfly()
  const { code, stdout } = await check([
    `${server.url.href}?mode=complete`,
    '--header',
    'X-Type: application/json',
  ])

  expect(code).toBe(0)
  expect(stdout).toContain(', 0 wrong,')
})

test('--bearer opens a protected server, --header and --origin reach it', async () => {
  await using server = await protectedServer()
  const seen: Headers[] = []
  await using recorder = await broken((request, next) => {
    seen.push(request.headers)
    return next()
  })
  const opened = await check([server.url.href, '--bearer', TOKEN])
  await check([recorder.url.href, '--header', 'X-Gateway: open', '--origin', 'http://localhost:5173/page'])

  expect(opened.code).toBe(0)
  expect(opened.stdout).toMatch(/works +the given token is accepted/)
  expect(seen.every((headers) => headers.get('x-gateway') === 'open')).toBe(true)
  expect(seen.some((headers) => headers.get('origin') === 'http://localhost:5173')).toBe(true)
})
