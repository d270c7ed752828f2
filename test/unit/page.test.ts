import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { describe, expect, test } from 'vitest'
import { connectSnippets } from '../../src/http/connect-snippets.ts'
import { PAGE_CSP, type PageModel, renderPage } from '../../src/http/page.ts'

const bare: PageModel = {
  name: 'shop',
  version: '1.0.0',
  endpoint: 'https://shop.example/mcp',
  tools: [],
  prompts: [],
  resources: [],
  resourceTemplates: [],
  protocolVersions: ['2026-07-28'],
}

const count = (text: string, part: string): number => text.split(part).length - 1

const codeOf = (client: string, name = 'shop', endpoint = bare.endpoint): string[] =>
  connectSnippets(name, endpoint)
    .find((snippet) => snippet.client === client)!
    .blocks.map((block) => block.code)

/** The words a POSIX shell makes of a command line, whose program is replaced by one that prints them. */
function shellWords(commandLine: string): string[] {
  const program = commandLine.split(' ')[0]!
  const script = `${program}() { printf '%s\\0' "$@"; }\n${commandLine}`
  const { stdout, stderr } = spawnSync('sh', ['-c', script], { encoding: 'utf8' })
  expect(stderr).toBe('')
  return stdout.split('\0').slice(0, -1)
}

test('the CSP’s hashes are those of the page’s only style and only script', () => {
  const page = renderPage(bare)
  for (const [tag, directive] of [
    ['style', 'style-src'],
    ['script', 'script-src'],
  ] as const) {
    const contents = [...page.matchAll(new RegExp(`<${tag}[^>]*>([^]*?)</${tag}>`, 'g'))]
    expect(contents).toHaveLength(1)
    const hash = createHash('sha256').update(contents[0]![1]!).digest('base64')
    expect(PAGE_CSP).toContain(`${directive} 'sha256-${hash}';`)
  }
  expect(page).not.toMatch(/ (style|on\w+)=/)
})

test('markup in any string of the model → escaped text', () => {
  const evil = `"'></title></style></script><img src=x onerror=alert(1)>&amp;`
  const page = renderPage({
    name: evil,
    title: evil,
    version: evil,
    description: evil,
    instructions: evil,
    websiteUrl: `https://${evil}`,
    icon: `https://${evil}`,
    endpoint: `https://shop.example/${evil}`,
    tools: [
      {
        name: evil,
        title: evil,
        description: evil,
        parameters: [{ name: evil, type: evil, required: true, description: evil }],
      },
    ],
    prompts: [{ name: evil, title: evil, description: evil, arguments: [{ name: evil, description: evil }] }],
    resources: [{ uri: evil, name: evil, title: evil, description: evil, mimeType: evil }],
    resourceTemplates: [{ uriTemplate: evil, name: evil, description: evil }],
    protocolVersions: [evil],
  })
  expect(page).not.toContain('<img src=x')
  expect(page).not.toContain(`"'>`)
  expect(page).not.toContain('&amp;&amp;')
  for (const end of ['</title>', '</style>', '</script>']) expect(count(page, end)).toBe(1)
  // Every string once; title, website and icon twice; not the names that equal their title, nor the resource's, which yields to its title.
  expect(count(page, '&lt;img src=x onerror=alert(1)&gt;&amp;amp;')).toBe(28)
})

test('the subtitle does not repeat the title', () => {
  const subtitle = (page: Partial<PageModel>) =>
    /<p class=soft>(.*?)<\/p>/.exec(renderPage({ ...bare, ...page }))![1]
  expect(subtitle({})).toBe('MCP server · 1.0.0')
  expect(subtitle({ title: 'shop' })).toBe('MCP server · 1.0.0')
  expect(subtitle({ title: 'The Shop' })).toBe('MCP server · <code>shop</code> · 1.0.0')
})

test('lists have their counts, and more than 20 tools a filter', () => {
  const tools = (length: number) => Array.from({ length }, (_, at) => ({ name: `t${at}`, parameters: [] }))
  const resources = Array.from({ length: 30 }, (_, at) => ({ uri: `shop://${at}` }))
  const page = (count: number) => renderPage({ ...bare, resources, tools: tools(count) })
  expect(page(20)).toContain('<h2>Tools <small>20</small></h2>')
  expect(page(20)).toContain('<h2>Resources <small>30</small></h2>')
  expect(page(20)).not.toContain('<input')
  expect(count(page(21), '<input')).toBe(1)
})

describe('the first thing to connect with', () => {
  const links = (endpoint: string, name = 'shop') => {
    const page = renderPage({ ...bare, name, endpoint })
    const hrefs = [...page.matchAll(/<a href="([^"]+)">Add to ([^<]+)<\/a>/g)]
    return Object.fromEntries(hrefs.map(([, href, client]) => [client, href!.replaceAll('&amp;', '&')]))
  }

  test('is the URL, to copy, and clients put no variable into it', () => {
    const page = renderPage({ ...bare, endpoint: 'https://shop.example/${HOME}/mcp' })
    const [first = ''] = page.split('<details name=connect')
    expect(first).toContain('aria-label="Copy for any client: URL"')
    expect(first).toContain('<pre>https://shop.example/%24%7BHOME%7D/mcp</pre>')
    expect(page).not.toContain('${')
  })

  test('and a link each for Cursor and VS Code, in the formats that they document', () => {
    // Such as to need all characters of Base64.
    for (const endpoint of [
      'https://shop.example/mcp',
      'https://shop.example/~>?a=b~~~?>>>',
      'http://[::1]:3000/mcp',
    ]) {
      const { Cursor, 'VS Code': code } = links(endpoint, 'Ünits & Co')
      const url = new URL(endpoint).href
      const cursor = new URL(Cursor!)
      expect([cursor.protocol, cursor.host, cursor.pathname]).toEqual([
        'cursor:',
        'anysphere.cursor-deeplink',
        '/mcp/install',
      ])
      expect(cursor.searchParams.get('name')).toBe('units-co')
      expect(JSON.parse(atob(cursor.searchParams.get('config')!))).toEqual({ url })
      expect(code).toMatch(/^vscode:mcp\/install\?/)
      expect(JSON.parse(decodeURIComponent(code!.split('?')[1]!))).toEqual({
        name: 'units-co',
        type: 'http',
        url,
      })
    }
  })

  test('ChatGPT is among the clients of a server with https', () => {
    expect(codeOf('ChatGPT')).toEqual([bare.endpoint])
    expect(renderPage({ ...bare, endpoint: 'http://127.0.0.1:3000/mcp' })).not.toContain('ChatGPT')
  })
})

test('a tool shows its title, hints and parameters', () => {
  const page = renderPage({
    ...bare,
    tools: [
      {
        name: 'refund',
        title: 'Refund an order',
        destructive: true,
        parameters: [{ name: 'orderId', type: 'string', required: true, description: 'As printed.' }],
      },
      { name: 'hours', readOnly: true, parameters: [] },
    ],
  })
  const [, refund, hours] = page.split('<article>')
  expect(refund).toMatch(
    /refund.*Refund an order.*destructive.*<details>.*orderId.*string.*required.*As printed\./,
  )
  expect(refund).not.toContain('read-only')
  expect(hours).toContain('read-only')
  expect(hours).not.toMatch(/destructive|<details>/)
})

test('a resource is headed by its URI, with title or name beside it', () => {
  const page = renderPage({
    ...bare,
    resources: [{ uri: 'shop://a', name: 'a-name', title: 'A title', mimeType: 'text/plain' }],
    resourceTemplates: [{ uriTemplate: 'shop://{id}', name: 't-name' }],
  })
  expect(page).toMatch(/<code>shop:\/\/a<\/code> <small>A title<\/small> <mark>text\/plain<\/mark>/)
  expect(page).toMatch(/<code>shop:\/\/{id}<\/code> <small>t-name<\/small>/)
  expect(page).not.toContain('a-name')
})

test('empty lists and absent fields leave no heading, no fold and no `undefined`', () => {
  const page = renderPage(bare)
  expect(page).not.toMatch(/<section|<article|Tools|Prompts|Resource|Instructions|undefined|null|false/)
  expect(page).toContain('<h1>shop</h1>')
  expect(page).toContain('Speaks MCP 2026-07-28')
})

test.each([
  'javascript:alert(1)',
  'data:text/html,x',
  ' https://shop.example',
  'ftp://shop.example',
  '//shop.example',
])('website %j → not linked', (websiteUrl) => {
  expect(
    renderPage({ ...bare, websiteUrl })
      .replaceAll('<a href="cursor:', '')
      .replaceAll('<a href="vscode:', ''),
  ).not.toContain('<a ')
})

test.each([
  ['https://shop.example/icon.png', true],
  ['data:image/png;base64,AAAA', true],
  ['http://shop.example/icon.png', false],
  ['data:text/html,x', false],
  ['javascript:alert(1)', false],
])('icon %j → shown: %j', (icon, isShown) => {
  const page = renderPage({ ...bare, icon })
  expect(page.includes(`<img class=icon src="${icon}"`)).toBe(isShown)
  expect(page.includes('<link rel=icon href="data:,">')).toBe(!isShown)
})

test('an endpoint that is no absolute URL → TypeError', () => {
  expect(() => renderPage({ ...bare, endpoint: '/mcp' })).toThrow(TypeError)
})

test('configuration snippets are JSON under each client’s own keys', () => {
  const url = bare.endpoint
  const configOf = (client: string) => JSON.parse(codeOf(client).at(-1)!)
  expect(configOf('Cursor')).toEqual({ mcpServers: { shop: { url } } })
  expect(configOf('VS Code')).toEqual({ servers: { shop: { type: 'http', url } } })
  expect(configOf('Windsurf')).toEqual({ mcpServers: { shop: { serverUrl: url } } })
  expect(configOf('Other clients')).toEqual({ mcpServers: { shop: { type: 'http', url } } })
  expect(codeOf('Claude Desktop, claude.ai')).toEqual([url])
})

test('Claude’s connectors take no http: a page of such a server does not offer them', () => {
  expect(renderPage({ ...bare, endpoint: 'http://127.0.0.1:3000/mcp' })).not.toContain('Connectors')
  expect(renderPage(bare)).toContain('Connectors')
})

test.each([
  ['Ünits & Co', 'units-co'],
  ['--scope; rm -rf ~', 'scope-rm-rf'],
  ['日本', 'mcp-server'],
  ['', 'mcp-server'],
  ['__proto__', 'proto'],
  ['a"b\\c\nd', 'a-b-c-d'],
])('the name %j → %j in every snippet', (name, slug) => {
  expect(codeOf('Claude Code', name)).toEqual([`claude mcp add --transport http ${slug} ${bare.endpoint}`])
  expect(Object.keys(JSON.parse(codeOf('Cursor', name)[0]!).mcpServers)).toEqual([slug])
})

test('a shell takes an endpoint with quotes and substitutions as one word', () => {
  const endpoint = `https://shop.example/it's/$(id)/\`id\`/*?a=b&c="d"#;e`
  const url = new URL(endpoint).href.replaceAll("'", '%27').replace('$', '%24')
  expect(shellWords(codeOf('Claude Code', 'shop', endpoint)[0]!)).toEqual([
    'mcp',
    'add',
    '--transport',
    'http',
    'shop',
    url,
  ])
  expect(shellWords(codeOf('MCP Inspector', 'shop', endpoint)[0]!).at(-1)).toBe(url)
  expect(shellWords(codeOf('curl', 'shop', endpoint)[0]!)[1]).toBe(url)
  const [flag, json] = shellWords(codeOf('VS Code', 'shop', endpoint)[0]!)
  expect(flag).toBe('--add-mcp')
  expect(JSON.parse(json!)).toEqual({ name: 'shop', type: 'http', url })
})

test('the curl snippet is a complete modern tools/list', () => {
  const words = shellWords(codeOf('curl')[0]!)
  const headers = words.filter((_, index) => words[index - 1] === '-H')
  expect(Object.fromEntries(headers.map((header) => header.split(': ')))).toEqual({
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/list',
  })
  expect(JSON.parse(words.at(-1)!)).toEqual({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/list',
    params: {
      _meta: {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': {},
      },
    },
  })
})

test('bundled, minified and gzipped the page stays under 3.5 KB', async () => {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('../../src/http/page.ts', import.meta.url))],
    bundle: true,
    minify: true,
    format: 'esm',
    write: false,
  })
  expect(gzipSync(outputFiles[0]!.contents, { level: 9 }).length).toBeLessThan(3584)
})
