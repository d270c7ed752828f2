/** `mayfly ingest` as a user runs it, into a snapshot and into a store of the user's own. */
import { execFile } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createMemoryVectorStore, type MemorySnapshot } from '../../src/retrieval.ts'

const CLI = join(import.meta.dirname, '../../deploy/cli.ts')
const run = promisify(execFile)
const closing: (() => unknown)[] = []
let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mayfly-ingest-'))
  write(
    'embed.mjs',
    `import { appendFileSync } from 'node:fs'
export default (texts) => {
  appendFileSync('calls.txt', texts.length + '\\n')
  return texts.map((text) => [text.length, text.split(' ').length, 1])
}`,
  )
})
afterEach(() => {
  for (const close of closing.splice(0)) close()
  rmSync(folder, { recursive: true, force: true })
})

function write(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), text)
}

const ingest = (...args: string[]) => ingestIn('.', ...args)

async function ingestIn(
  at: string,
  ...args: string[]
): Promise<{ code: number; stdout: string; stderr: string }> {
  const options = { cwd: join(folder, at), env: { ...process.env, MAYFLY_TEST: '1' } }
  const child = run(process.execPath, [CLI, 'ingest', ...args], options)
  return child.then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (error: { code: number; stdout: string; stderr: string }) => error,
  )
}

const INTO = ['--store', 'index.json', '--index', 'docs', '--model', 'embed.mjs']

/** How many texts were embedded since the last call. */
function embedded(): number {
  const file = join(folder, 'calls.txt')
  if (!existsSync(file)) return 0
  const count = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .reduce((sum, line) => sum + Number(line), 0)
  rmSync(file)
  return count
}

async function rows(index = 'docs') {
  const store = createMemoryVectorStore(
    JSON.parse(readFileSync(join(folder, 'index.json'), 'utf8')) as MemorySnapshot,
  )
  const found = await store.query({ indexName: index, queryVector: [1, 1, 1], topK: 1000 })
  return found.map(({ metadata }) => metadata as { text: string; source: string; heading: string })
}

describe('mayfly ingest', () => {
  it('the index keeps its mode; a read-only one is refused and not replaced', async () => {
    write('docs/a.md', '# Refunds\n\nWithin 30 days.\n')
    const path = join(folder, 'index.json')
    await ingest('docs', ...INTO)
    chmodSync(path, 0o600)
    write('docs/b.md', '# Shipping\n\nWithin 3 days.\n')
    expect(await ingest('docs', ...INTO)).toMatchObject({ code: 0 })
    expect(statSync(path).mode & 0o777).toBe(0o600)

    chmodSync(path, 0o400)
    const before = readFileSync(path, 'utf8')
    write('docs/c.md', '# Gifts\n\nWrapped.\n')
    const { code, stderr } = await ingest('docs', ...INTO)
    expect([code, readFileSync(path, 'utf8') === before]).toEqual([1, true])
    expect(stderr).toContain('index.json is read-only: make it writable')
  })

  it('splits Markdown, HTML and text by headings, and keeps where each chunk is from', async () => {
    write(
      'docs/guide.md',
      '---\ntitle: x\n---\n# Guide\n\nHello.\n\n## Install\n\n```sh\n# not a heading\nnpm install\n```\n',
    )
    write(
      'docs/deep/page.html',
      '<html><head><title>T</title><style>p{}</style></head><body><nav>menu</nav><h1>Page</h1><p>One <b>two</b>.</p><script>evil()</script></body></html>',
    )
    write('docs/notes.txt', `${'A sentence. '.repeat(200)}\n\nThe end.`)
    write('docs/.hidden/x.md', 'hidden')
    write('docs/node_modules/x.md', 'package')
    write('docs/image.png', 'x')
    const { code, stdout } = await ingest('docs', '--chunk-size', '300', ...INTO)
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/^3 documents, \d+ chunks: \d+ new, 0 removed, 0 unchanged in [\d.]+ s\n$/),
    ])
    const all = await rows()
    const texts = all.map(({ text }) => text).join('\n')
    expect(texts).not.toMatch(/hidden|package|menu|evil|title: x/)
    expect(texts).toContain('npm install')
    expect(all.find(({ text }) => text.includes('One **two**.'))).toMatchObject({
      source: 'docs/deep/page.html',
    })
    expect(
      all.filter(({ source }) => source === 'docs/notes.txt').every(({ text }) => text.length <= 300),
    ).toBe(true)
    expect(all.filter(({ source }) => source === 'docs/notes.txt').length).toBeGreaterThan(7)
  })

  it('embeds only what is new, and removes what is gone', async () => {
    write('docs/a.md', '# A\n\nOne.')
    write('docs/b.md', '# B\n\nTwo.')
    await ingest('docs', ...INTO)
    expect(embedded()).toBe(2)

    const unchanged = await ingest('docs', ...INTO)
    expect([unchanged.stdout, embedded()]).toEqual([
      expect.stringContaining('0 new, 0 removed, 2 unchanged'),
      0,
    ])

    write('docs/b.md', '# B\n\nThree.')
    const dry = await ingest('docs', '--dry-run', ...INTO)
    expect([dry.stdout, embedded()]).toEqual([expect.stringContaining('1 new, 1 removed, 1 unchanged'), 0])
    expect(dry.stdout).toContain('nothing was changed')

    const changed = await ingest('docs', ...INTO)
    expect([changed.stdout, embedded()]).toEqual([
      expect.stringContaining('1 new, 1 removed, 1 unchanged'),
      1,
    ])
    expect((await rows()).map(({ text }) => text).sort()).toEqual(['# A\n\nOne.', '# B\n\nThree.'])
  })

  it('leaves alone what was ingested under another name', async () => {
    write('one/a.md', 'One.')
    write('two/b.md', 'Two.')
    await ingest('one', ...INTO)
    await ingest('two', ...INTO)
    expect((await rows()).map(({ source }) => source).sort()).toEqual(['one/a.md', 'two/b.md'])
    await ingest('two', '--name', 'three', ...INTO)
    await ingest('one', '--name', 'three', '--remove-most', ...INTO)
    expect((await rows()).map(({ source }) => source).sort()).toEqual(['one/a.md', 'one/a.md', 'two/b.md'])
  })

  it('more than half of what is there is only removed with --remove-most', async () => {
    for (const name of ['a', 'b', 'c', 'd']) write(`docs/${name}.md`, `# ${name}\n`)
    await ingest('docs', '--name', 'docs', ...INTO)
    for (const name of ['a', 'b', 'c']) rmSync(join(folder, `docs/${name}.md`))
    write('docs/new.md', '# New\n')
    expect(embedded()).toBe(4)

    const refused = await ingest('docs', '--name', 'docs', ...INTO)
    const dry = await ingest('docs', '--name', 'docs', '--dry-run', ...INTO)

    const why =
      /^mayfly: 3 of the 4 chunks named docs are of documents that are not here[^\n]+--remove-most[^\n]+\n$/
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(why)])
    expect([dry.code, dry.stderr]).toEqual([0, expect.stringMatching(why)])
    expect([embedded(), (await rows()).length]).toEqual([0, 4])
    const allowed = await ingest('docs', '--name', 'docs', '--remove-most', ...INTO)
    expect(allowed.stdout).toContain('1 new, 3 removed, 1 unchanged')
    // A changed document is replaced.
    write('docs/d.md', '# Other\n')
    write('docs/new.md', '# Another\n')
    expect((await ingest('docs', '--name', 'docs', ...INTO)).stdout).toContain(
      '2 new, 2 removed, 0 unchanged',
    )
  })

  it('folders with the same name in two projects are two sets of documents', async () => {
    for (const project of ['one', 'two']) {
      write(`${project}/package.json`, JSON.stringify({ name: `@shop/${project}` }))
      write(`${project}/docs/${project}.md`, `# ${project}\n`)
    }
    const into = ['--store', '../index.json', '--index', 'docs', '--model', '../embed.mjs']
    for (const project of ['one', 'two', 'one'])
      expect((await ingestIn(project, 'docs', ...into)).stdout).toMatch(/, 0 removed,/)
    expect((await rows()).map(({ source }) => source).sort()).toEqual(['docs/one.md', 'docs/two.md'])
  })

  it('the same folder and the same model are the same, however they are spelled and wherever it runs', async () => {
    write('package.json', '{ "name": "shop" }')
    write('handbook/a.md', '# A\n')
    write('models/small.mjs', "export { default } from '../embed.mjs'\n")
    symlinkSync('handbook', join(folder, 'linked'))
    const into = (up: string, model: string) => [
      '--store',
      `${up}index.json`,
      '--index',
      'docs',
      '--model',
      model,
    ]
    expect((await ingest('handbook', ...into('', 'models/small.mjs'))).stdout).toContain('1 new')
    for (const [at, given, up, model] of [
      ['.', './handbook/', './', './models/small.mjs'],
      ['.', 'linked', '', join(folder, 'models/small.mjs')],
      ['handbook', '.', '../', '../models/small.mjs'],
      ['models', '../handbook', '../', 'small.mjs'],
    ] as const)
      expect((await ingestIn(at, given, ...into(up, model))).stdout).toContain(
        '0 new, 0 removed, 1 unchanged',
      )
    expect((await rows()).map(({ source }) => source)).toEqual(['handbook/a.md'])
  })

  it('of many at once into one file none loses the chunks of another', async () => {
    write('kept/a.md', '# Kept\n')
    await ingest('kept', ...INTO)
    const names = Array.from({ length: 8 }, (_, at) => `set${at}`)
    for (const name of names) write(`${name}/a.md`, `# ${name}\n`)
    write(
      'slow.mjs',
      `import { existsSync, appendFileSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
export default async (texts) => {
  appendFileSync('ready.txt', 'x')
  while (readFileSync('ready.txt', 'utf8').length < ${names.length}) await delay(5)
  return texts.map((text) => [text.length, 1, 1])
}`,
    )
    const into = ['--store', 'index.json', '--index', 'docs', '--model', 'slow.mjs']
    const ended = await Promise.all(names.map((name) => ingest(name, ...into)))
    expect(ended.map(({ code, stderr }) => [code, stderr])).toEqual(names.map(() => [0, '']))
    expect((await rows()).map(({ source }) => source).sort()).toEqual(
      ['kept', ...names].map((name) => `${name}/a.md`).sort(),
    )
    expect(readdirSync(folder).filter((name) => /tmp|lock/.test(name))).toEqual([])
  })

  it.each([
    ['a line.txt', (size: number) => '😀'.repeat(size)],
    ['a line.md', (size: number) => `x${'😀'.repeat(size)}`],
    ['code.md', (size: number) => `\`\`\`\n${'const x = 1\n'.repeat(size)}\`\`\``],
    ['table.md', (size: number) => `| a | b |\n|---|---|\n${'| 😀 | 😀 |\n'.repeat(size)}`],
    ['list.md', (size: number) => '- item 😀\n'.repeat(size)],
    [
      'nested.md',
      (size: number) =>
        Array.from({ length: 90 }, (_, at) => `${' '.repeat(2 * at)}- 😀\n`)
          .join('')
          .repeat(size / 500),
    ],
    ['links.md', (size: number) => '[a](b)[\n'.repeat(size)],
    ['half.html', (size: number) => `<p>${'&#xD83D;x'.repeat(size)}</p>`],
    ['heading.md', (size: number) => `# ${'😀'.repeat(size)}\n\n${'text 😀\n\n'.repeat(size)}`],
    ['bytes.html', (size: number) => `<pre>${'😀x'.repeat(size)}</pre>`],
  ])('no chunk of %s is longer than its limit, or ends within a character', async (file, text) => {
    write(`docs/${file}`, text(2000))
    expect((await ingest('docs', '--chunk-size', '301', ...INTO)).code).toBe(0)
    const all = await rows()
    expect(all.length).toBeGreaterThan(3)
    for (const { text: chunk, heading } of all) {
      expect(chunk.length).toBeLessThanOrEqual(301 * 1.5)
      expect(heading.length).toBeLessThanOrEqual(200)
      expect(chunk + heading).not.toMatch(/\p{Cs}/u)
    }
    if (file.endsWith('.txt')) expect(all.map(({ text: chunk }) => chunk).join('')).toBe(text(2000))
  })

  it.each([
    ['文档', '指南'],
    ['handbook-for-customers-eu', 'handbook-for-customers-us'],
    ['a b', 'a-b'],
  ])(
    'default names of %s and %s differ, so that neither removes the chunks of the other',
    async (one, other) => {
      write(`${one}/a.md`, '# One\n')
      write(`${other}/a.md`, '# Other\n')
      for (const given of [one, other, one]) expect((await ingest(given, ...INTO)).code).toBe(0)
      expect((await rows()).map(({ source }) => source).sort()).toEqual(
        [`${one}/a.md`, `${other}/a.md`].sort(),
      )
    },
  )

  it.each([
    ['page.html', `${'<div>'.repeat(5000)}x${'</div>'.repeat(5000)}`],
    ['quote.html', '<blockquote>a'.repeat(101)],
  ])('a document that is nested too deeply is named, and the others are ingested: %s', async (file, text) => {
    write('docs/a.md', '# A\n')
    write('docs/old.md', '# Old\n')
    await ingest('docs', ...INTO)
    rmSync(join(folder, 'docs/old.md'))
    write(`docs/${file}`, text)
    write('docs/z.md', '# Z\n')
    const { code, stdout, stderr } = await ingest('docs', ...INTO)
    expect(code).toBe(1)
    expect(stdout).toContain('2 documents, 2 chunks: 1 new, 0 removed')
    expect(stderr.trim().split('\n')).toEqual([
      expect.stringContaining(`docs/${file}: it is nested too deeply to be split`),
      expect.stringContaining('nothing was removed'),
    ])
    expect((await rows()).map(({ source }) => source).sort()).toEqual([
      'docs/a.md',
      'docs/old.md',
      'docs/z.md',
    ])
  })

  it('only a document that is nested too deeply → one line, and nothing is changed', async () => {
    write('docs/quote.html', '<ul><li>'.repeat(1900))
    const { code, stderr } = await ingest('docs', ...INTO)
    expect([code, stderr.trim().split('\n')]).toEqual([
      1,
      [expect.stringContaining('docs/quote.html'), expect.stringContaining('none of the documents')],
    ])
    expect(existsSync(join(folder, 'index.json'))).toBe(false)
  })

  it('a line that the parser would take long for is split as plain text, with a warning', async () => {
    write('docs/links.md', `# Links\n\n${'[a]('.repeat(100_000)}\n`)
    write('docs/image.md', `# Image\n\n![](data:image/png;base64,${'aA0+'.repeat(10_000)})\n`)
    const { code, stderr } = await ingest('docs', ...INTO)
    expect([code, stderr.trim()]).toEqual([
      0,
      expect.stringMatching(/docs\/links\.md: a line has over 1000 [^\n]+$/),
    ])
    expect((await rows()).filter(({ source }) => source === 'docs/links.md').length).toBeGreaterThan(400)
  })

  it('reads pages; where one cannot be read, nothing is removed, and the exit code is 1', async () => {
    let isUp = true
    const server = createServer((request, response) => {
      const status = request.url === '/b' && !isUp ? 500 : 200
      response.writeHead(status, { 'content-type': 'text/html; charset=utf-8' })
      response.end(`<h1>Page</h1><p>${request.url}</p>`)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    closing.push(() => server.close())
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    write('urls.txt', `# pages\n${base}/a\n\n${base}/b\n`)
    expect((await ingest('--urls', 'urls.txt', '--name', 'site', ...INTO)).stdout).toContain(
      '2 documents, 2 chunks: 2 new',
    )
    isUp = false
    const { code, stdout, stderr } = await ingest('--urls', 'urls.txt', '--name', 'site', ...INTO)
    expect([code, stdout]).toEqual([1, expect.stringContaining('0 removed')])
    expect(stderr).toContain('HTTP 500')
    expect(stderr).toContain('nothing was removed')
    expect(await rows()).toHaveLength(2)
  })

  it('reads a page in its own encoding, and follows redirects on its host alone', async () => {
    const pages: Record<string, [number, Record<string, string>, string | Buffer]> = {
      '/latin': [200, { 'content-type': 'text/plain; charset=ISO-8859-1' }, Buffer.from('caf\xe9', 'latin1')],
      '/meta': [
        200,
        { 'content-type': 'text/html' },
        Buffer.from('<meta charset="windows-1252"><p>na\xefve</p>', 'latin1'),
      ],
      '/moved': [302, { location: '/latin' }, ''],
      '/round': [302, { location: '/round' }, ''],
      '/away': [302, { location: 'http://localhost:1/latest/meta-data' }, ''],
      '/file': [302, { location: 'file:///etc/passwd' }, ''],
      '/binary': [200, { 'content-type': 'text/plain' }, Buffer.from([0x61, 0x00, 0x62])],
    }
    const server = createServer((request, response) => {
      const [status, headers, body] = pages[request.url!]!
      response.writeHead(status, headers).end(body)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    closing.push(() => server.close())
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const { code, stderr } = await ingest(...Object.keys(pages).map((path) => base + path), ...INTO)
    expect(code).toBe(1)
    const found = (await rows()).map(({ source, text }) => [source.slice(base.length), text])
    expect(found.sort()).toEqual([
      ['/latin', 'café'],
      ['/meta', 'naïve'],
      ['/moved', 'café'],
    ])
    for (const message of [
      '/round: it redirects over 5 times',
      '/away: it redirects to another host: pass http://localhost:1/latest/meta-data itself',
      '/file: it redirects to file:',
      '/binary: it is not UTF-8 text',
    ])
      expect(stderr).toContain(message)
  })

  it('a file that is no text, or too large, is warned of by its escaped name, and nothing is removed', async () => {
    write('docs/a.md', 'One.')
    write('docs/gone.md', 'Gone.')
    await ingest('docs', ...INTO)
    rmSync(join(folder, 'docs/gone.md'))
    write('docs/bom.md', '\uFEFF---\ntitle: x\n---\n# Head')
    writeFileSync(join(folder, 'docs/utf16.txt'), Buffer.from('\uFEFFTwo.', 'utf16le'))
    writeFileSync(join(folder, 'docs/bad\n\u001b[31m.txt'), Buffer.from([0x61, 0x00]))
    writeFileSync(join(folder, 'docs/latin.txt'), Buffer.from('caf\xe9', 'latin1'))
    write('docs/large.txt', 'x'.repeat(10_000_001))
    write('docs/empty.md', '')
    const { code, stderr } = await ingest('docs', ...INTO)
    expect(code).toBe(1)
    expect((await rows()).map(({ text }) => text).sort()).toEqual(['# Head', 'Gone.', 'One.', 'Two.'])
    expect(stderr.trim().split('\n')).toEqual([
      'mayfly: docs/bad\\u000a\\u001b[31m.txt: it is not UTF-8 text',
      'mayfly: docs/large.txt: it has over 10000000 bytes',
      'mayfly: docs/latin.txt: it is not UTF-8 text',
      'mayfly: nothing was removed, since 3 documents could not be read',
    ])
  })

  it('fills a store that a module exports, and repeats what fails for a moment', async () => {
    write('docs/a.md', 'One.')
    write(
      'store.mjs',
      `import { writeFileSync } from 'node:fs'
let failures = 1
const flaky = (act) => async (params) => {
  if (failures-- > 0) throw Object.assign(new Error('busy'), { status: 503 })
  return act(params)
}
export default {
  createIndex: async () => {},
  describeIndex: async () => ({}),
  deleteVectors: async () => {},
  upsert: flaky(async (params) => writeFileSync('upserted.json', JSON.stringify(params))),
  query: async () => [],
}`,
    )
    write(
      'listing.mjs',
      `import store from './store.mjs'\nexport default { ...store, listIds: async () => ['docs:gone', 'other:kept'] }`,
    )
    const { code, stdout } = await ingest(
      'docs',
      '--store',
      'listing.mjs',
      '--index',
      'i',
      '--model',
      'embed.mjs',
      ...['--name', 'docs', '--remove-most'],
    )
    expect([code, stdout]).toEqual([0, expect.stringContaining('1 new, 2 removed')])
    expect(JSON.parse(readFileSync(join(folder, 'upserted.json'), 'utf8'))).toEqual({
      indexName: 'i',
      vectors: [[14, 1, 1]],
      ids: [expect.stringMatching(/^docs:[\da-f]{40}$/)],
      metadata: [{ text: 'One.', source: 'docs/a.md', heading: '' }],
    })
  })

  it('fills Vectorize by the calls that wrangler makes', async () => {
    write('docs/a.md', 'One.')
    const received: [string, string][] = []
    let isCreated = false
    const server = createServer(async (request, response) => {
      let body = ''
      for await (const chunk of request) body += chunk
      received.push([`${request.method} ${request.url}`, body])
      expect(request.headers.authorization).toBe('Bearer token')
      if (request.url?.endsWith('/indexes')) isCreated = true
      const result = request.url?.includes('/list')
        ? { vectors: [], count: 0, isTruncated: false }
        : { mutationId: 'm' }
      response.writeHead(isCreated ? 200 : 404, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ success: isCreated, result, errors: [], messages: [] }))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    closing.push(() => server.close())
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/client/v4`
    write('.env', 'CLOUDFLARE_ACCOUNT_ID=acc\nCLOUDFLARE_API_TOKEN=token\n')
    vi.stubEnv('CLOUDFLARE_API_BASE_URL', url)
    closing.push(() => vi.unstubAllEnvs())
    const { code, stdout, stderr } = await ingest(
      'docs',
      '--store',
      'vectorize',
      '--index',
      'i',
      '--model',
      'embed.mjs',
    )
    expect([code, stdout, stderr]).toEqual([0, expect.stringContaining('1 new'), expect.any(String)])
    const base = '/client/v4/accounts/acc/vectorize/v2/indexes'
    expect(received.map(([request]) => request)).toEqual([
      `GET ${base}/i/list?count=1000`,
      `POST ${base}`,
      `POST ${base}/i/upsert`,
    ])
    expect(JSON.parse(received[1]![1])).toEqual({ name: 'i', config: { dimensions: 3, metric: 'cosine' } })
    expect(received[2]![1]).toMatch(
      /name="vectors"; filename="vectors.ndjson"[\s\S]*\{"id":"docs-[\da-f]{6}:[\da-f]{40}","values":\[14,1,1\],"metadata":\{"text":"One."/,
    )
  })

  it.each<[string, string[], number, string]>([
    ['without a source', INTO, 2, 'pass a folder, a file or a URL'],
    ['without --store', ['docs', '--index', 'i', '--model', 'embed.mjs'], 2, 'pass --store'],
    ['of a folder that does not exist', ['nowhere', ...INTO], 1, 'nowhere does not exist'],
    ['of a folder without documents', ['empty', ...INTO], 1, 'no documents in empty'],
    ['with a wrong name', ['docs', '--name', 'a b', ...INTO], 2, '"a b" is not a name'],
    ['with a wrong size', ['docs', '--chunk-size', '1', ...INTO], 2, '"1" is not a chunk size'],
    [
      'with a module that does not exist',
      ['docs', '--store', 'gone.mjs', '--index', 'i', '--model', 'embed.mjs'],
      1,
      'gone.mjs does not exist',
    ],
    [
      'with a model that is none',
      ['docs', '--store', 'index.json', '--index', 'i', '--model', 'no-model.mjs'],
      1,
      '"model" must be a function',
    ],
    [
      'without a variable',
      ['docs', '--store', 'upstash', '--index', 'i', '--model', 'embed.mjs'],
      1,
      'UPSTASH_VECTOR_REST_URL is not set',
    ],
    [
      'without a package',
      ['docs', '--store', 'libsql', '--index', 'i', '--model', 'embed.mjs'],
      1,
      '@libsql/client is not installed',
    ],
    [
      'into a file that is something else',
      ['docs', '--store', 'package.json', '--index', 'i', '--model', 'embed.mjs'],
      1,
      'is not an index of mayfly ingest',
    ],
    [
      'with a wrong index name',
      ['docs', '--store', 'index.json', '--index', 'a b', '--model', 'embed.mjs'],
      1,
      'An index name must have',
    ],
  ])('%s is one line on stderr', async (_, args, code, message) => {
    write('docs/a.md', 'One.')
    mkdirSync(join(folder, 'empty'))
    write('no-model.mjs', 'export default 1')
    write('package.json', '{}')
    const result = await ingest(...args)
    expect([result.code, result.stderr.trim().split('\n').length, result.stdout]).toEqual([code, 1, ''])
    expect(result.stderr).toContain(message)
    expect(existsSync(join(folder, 'index.json'))).toBe(false)
  })
})
