/** `mayfly registry`: the `server.json` that it writes from a server, and what it says the MCP registry would refuse. */
import { existsSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { SCHEMA_URL } from '../../deploy/registry/schema.ts'
import { makeServerJson } from '../../deploy/registry/server-json.ts'
import { problemsOf } from '../../deploy/registry/validate.ts'
import { MayflyProcess, type Output, Project } from './_dev-process.ts'
import { WRAPPED_SERVERS } from './_wrapped-servers.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const URL_OPTION = ['--url', 'https://shop.example.com/mcp']

interface Files {
  readonly config?: string
  readonly manifest?: object
  readonly existing?: unknown
}

function arrange({ config = "description: 'Sells things',", manifest, existing }: Files = {}): Project {
  const project = new Project()
  project.linkPackage()
  project.write(
    'server.ts',
    `import { createTool, MCPServer } from 'mayfly-mcp'
const hello = createTool({ id: 'hello', description: 'Says hello', execute: () => 'hello' })
export default new MCPServer({ id: 'shop', name: 'Shop', version: '1.2.3', tools: { hello }, ${config} })`,
  )
  if (manifest !== undefined) project.write('package.json', JSON.stringify(manifest))
  if (existing !== undefined) project.write('server.json', JSON.stringify(existing))
  return project
}

function registry(project: Project, ...args: string[]): Promise<Output> {
  return new MayflyProcess(['registry', ...args], project.folder).exited
}

const written = (project: Project): Record<string, unknown> =>
  JSON.parse(readFileSync(join(project.folder, 'server.json'), 'utf8')) as Record<string, unknown>

describe('mayfly registry', { timeout: 120_000 }, () => {
  test('writes what the server, its package.json and its URL say', async () => {
    await using project = arrange({
      config: `title: 'The shop', description: 'Sells things', websiteUrl: 'https://shop.example.com',
        icons: [{ src: 'https://shop.example.com/icon.png', mimeType: 'image/png', sizes: ['64x64'] }, { src: 'data:image/png;base64,AA==' }],`,
      manifest: {
        name: 'shop',
        repository: { type: 'git', url: 'git+https://github.com/User/shop.git', directory: 'mcp' },
      },
    })

    const { code, stdout, stderr } = await registry(project, ...URL_OPTION, '--header', 'X-Api-Key')

    expect({ code, stdout }).toEqual({ code: 0, stdout: 'wrote server.json: io.github.User/shop 1.2.3\n' })
    expect(stderr).toMatch(/^mayfly: icons without an https URL are left out.*\n$/)
    expect(written(project)).toEqual({
      $schema: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
      name: 'io.github.User/shop',
      title: 'The shop',
      description: 'Sells things',
      version: '1.2.3',
      websiteUrl: 'https://shop.example.com',
      repository: { url: 'https://github.com/User/shop', source: 'github', subfolder: 'mcp' },
      icons: [{ src: 'https://shop.example.com/icon.png', mimeType: 'image/png', sizes: ['64x64'] }],
      remotes: [
        {
          type: 'streamable-http',
          url: 'https://shop.example.com/mcp',
          headers: [{ name: 'X-Api-Key', isRequired: true, isSecret: true }],
        },
      ],
    })
  })

  test('keeps what the file says and the server does not, and says whether the file is current', async () => {
    const packages = [
      { registryType: 'npm', identifier: 'shop', version: '1.0.0', transport: { type: 'stdio' } },
    ]
    const meta = { 'io.modelcontextprotocol.registry/publisher-provided': { tool: 'ci' } }
    await using project = arrange({
      existing: { name: 'com.example/shop', version: '1.0.0', packages, _meta: meta },
    })

    const stale = await registry(project, '--check', ...URL_OPTION)
    const before = written(project)
    const update = await registry(project, ...URL_OPTION)
    const current = await registry(project, '--check', ...URL_OPTION)

    expect(stale).toMatchObject({ code: 1, stderr: expect.stringContaining('server.json is not current in') })
    expect(before.version).toBe('1.0.0')
    expect(update.code).toBe(0)
    expect(written(project)).toMatchObject({
      name: 'com.example/shop',
      version: '1.2.3',
      packages,
      _meta: meta,
    })
    expect(current).toMatchObject({ code: 0, stdout: 'server.json is current\n' })
  })

  test('other remotes of the file stay', async () => {
    const other = { type: 'sse', url: 'https://eu.shop.example.com/sse' }
    await using project = arrange({ existing: { remotes: [other] } })

    const { code } = await registry(project, ...URL_OPTION)

    expect(code).toBe(0)
    const { remotes } = JSON.parse(readFileSync(join(project.folder, 'server.json'), 'utf8'))
    expect(remotes).toHaveLength(2)
    expect(remotes).toContainEqual(other)
  })

  test('without a repository the name is the host’s; mcpName of package.json comes first', async () => {
    await using host = arrange()
    await using named = arrange({ manifest: { mcpName: 'com.example/other' } })

    const [one, other] = [
      await registry(host, ...URL_OPTION, '--print'),
      await registry(named, ...URL_OPTION, '--print'),
    ]

    expect(JSON.parse(one.stdout)).toMatchObject({ name: 'com.example.shop/shop' })
    expect(JSON.parse(other.stdout)).toMatchObject({ name: 'com.example/other' })
    expect(existsSync(join(host.folder, 'server.json'))).toBe(false)
  })

  test.for<(typeof WRAPPED_SERVERS)[number]>([
    ...WRAPPED_SERVERS,
    [
      'a server card and a Hono app',
      `${WRAPPED_SERVERS[0]![1].replace('export default', 'const server =')}
import { Hono } from 'hono'
import { mcp } from 'mayfly-mcp/hono'
export default new Hono().all('/mcp', mcp(server))`,
    ],
  ])('says who a server is that has %s around it', async ([, source]) => {
    await using project = arrange()
    symlinkSync(join(ROOT, 'node_modules/hono'), join(project.folder, 'node_modules/hono'))
    project.write('server.ts', source)

    const { code, stdout, stderr } = await registry(project, ...URL_OPTION, '--print')

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(JSON.parse(stdout)).toMatchObject({ title: 'Shop', version: '1.2.3', description: 'Sells things' })
  })

  test('a server within a function of one’s own → one line that says what to name', async () => {
    await using project = arrange()
    project.write('server.ts', `export default { fetch: () => new Response('hello') }`)

    const { code, stderr } = await registry(project, ...URL_OPTION)

    expect(code).toBe(1)
    expect(stderr).toMatch(
      /^mayfly: the entry exports neither an MCPServer nor an app with mcp\(server\): [^\n]+\n$/,
    )
  })

  test('what the registry would refuse is named, and nothing is written', async () => {
    await using project = arrange({ config: `description: '${'x'.repeat(101)}',` })

    const { code, stderr } = await registry(project, '--url', 'https://localhost/mcp', '--name', 'shop')

    expect(code).toBe(1)
    expect(stderr).toContain('would refuse name: "shop" is not namespace/name, such as io.github.user/shop\n')
    expect(stderr.match(/name: /g)).toHaveLength(1)
    expect(stderr).toMatch(/would refuse description: /)
    expect(existsSync(join(project.folder, 'server.json'))).toBe(false)
  })

  test.each([
    [[], /pass --url with the deployed MCP endpoint/, 1],
    [['--url', 'http://shop.example.com/mcp'], /--url must begin with https/, 2],
    [['--validate'], /server\.json does not exist/, 1],
  ] as const)('%j is refused', async (args, why, exitCode) => {
    await using project = arrange()
    const { code, stderr } = await registry(project, ...args)
    expect(code).toBe(exitCode)
    expect(stderr).toMatch(why)
  })

  test('--validate escapes what it prints of the file, and names no more than 50 faults', async () => {
    await using project = arrange({
      existing: {
        remotes: [{ type: 'sse', url: 'https://a.example', 'is_\u001b[2J\nmayfly: it is valid': 1 }],
      },
    })
    const { code, stdout, stderr } = await registry(project, '--validate')
    expect([code, stdout]).toEqual([1, ''])
    for (const line of stderr.trim().split('\n')) expect(line).toMatch(/^mayfly: the registry would refuse /)
    expect(stderr).not.toContain('\u001b')

    const many = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`is_a${at}`, 1]))
    project.write('server.json', JSON.stringify({ 'a\nb': { is_a: 1 }, ...many }))
    const lines = (await registry(project, '--validate')).stderr.trim().split('\n')
    expect(lines).toHaveLength(51)
    expect(lines[0]).toContain('a\\u000ab.is_a')
    expect(lines.at(-1)).toMatch(/^mayfly: and \d+ more$/)
  })

  test.each([[['--validate']], [URL_OPTION], [[...URL_OPTION, '--check']]])(
    'a file that is nested too deeply → one line: %j',
    async (args) => {
      await using project = arrange()
      for (const [open, close] of [
        ['{"a":', '}'],
        ['{"a":[', ']}'],
      ] as const) {
        project.write('server.json', `${open.repeat(50_000)}1${close.repeat(50_000)}`)
        const { code, stderr } = await registry(project, ...args)
        expect([code, stderr]).toEqual([1, 'mayfly: server.json: the JSON is nested too deeply.\n'])
      }
    },
  )

  test('--validate reads any file, and one that is no JSON is left alone', async () => {
    await using project = arrange({
      existing: { $schema: SCHEMA_URL, name: 'a.b/cd', description: 'd', version: '1' },
    })

    const valid = await registry(project, '--validate')
    project.write('server.json', '{')
    const broken = await registry(project, ...URL_OPTION)

    expect(valid).toMatchObject({ code: 0, stdout: 'server.json is valid\n' })
    expect(broken).toMatchObject({ code: 1, stderr: expect.stringContaining('is not a JSON object') })
    expect(readFileSync(join(project.folder, 'server.json'), 'utf8')).toBe('{')
  })
})

describe('the repository of package.json', () => {
  const identity = { id: 'shop', name: 'Shop', version: '1.0.0', toolList: [], promptList: [] }
  const given = { url: undefined, name: undefined, description: undefined, headers: [] }
  const make = (repository: unknown) => makeServerJson(identity, { repository }, given)

  test.each([
    ['user/shop', 'github'],
    ['github:user/shop#main', 'github'],
    ['git@github.com:user/shop.git', 'github'],
    ['git+ssh://git@github.com:user/shop.git', 'github'],
    ['git+ssh://git@github.com/user/shop.git#v1', 'github'],
    ['ssh://git@github.com:22/user/shop.git', 'github'],
    ['git@github.com:7/shop.git', 'github', '7/shop'],
    ['git://github.com/user/shop.git', 'github'],
    ['https://GitHub.com/user/shop/', 'github'],
    ['https://github.com/user/shop#readme', 'github'],
    ['https://github.com/user/shop?tab=readme-ov-file', 'github'],
    ['https://github.com/user/shop/tree/main', 'github'],
    ['https://github.com/user/shop.git/tree/main/a', 'github'],
    ['https://user:secret@github.com/user/shop.git', 'github'],
    ['github.com/user/shop', 'github'],
    ['gitlab:group/sub/shop', 'gitlab', 'group/sub/shop'],
    ['git@gitlab.com:group/sub/shop.git', 'gitlab', 'group/sub/shop'],
    ['https://gitlab.com/group/sub/shop/-/tree/main', 'gitlab', 'group/sub/shop'],
  ])('%s', async (repository, source, path = 'user/shop') => {
    const { document, notes } = make({ type: 'git', url: repository })
    expect(document.repository).toEqual({ url: `https://${source}.com/${path}`, source })
    expect(notes).toEqual([])
    expect((await problemsOf(document)).join()).not.toContain('repository')
  })

  test.each([
    'bitbucket:user/shop',
    'gist:11081aaa281',
    'git.example.com/shop',
    'gitlab.example.com/user/shop',
    'https://git.example.com/user/shop',
    'https://github.com/user',
    'https://github.com.example.com/user/shop',
    'https://example.com/github.com/user/shop',
    'https://gitlab.com/../shop',
    '',
    { type: 'git' },
  ])('%j is none of the registry: it is left out, with a note', (repository) => {
    const { document, notes } = make(repository)
    expect(document).not.toHaveProperty('repository')
    expect(notes).toEqual([expect.stringMatching(/^repository is left out: the registry accepts/)])
  })

  test('none is no reason for a note', () => {
    expect(make(undefined).notes).toEqual([])
    expect(make(null).notes).toEqual([])
  })

  test('one that is left out is said on stderr', { timeout: 60_000 }, async () => {
    await using project = arrange({ manifest: { repository: 'https://git.example.com/user/shop' } })
    const { code, stderr } = await registry(project, ...URL_OPTION, '--print')
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(/^mayfly: repository is left out: [^\n]+\n$/),
    })
  })
})

describe('what the registry refuses', () => {
  const valid = {
    $schema: SCHEMA_URL,
    name: 'com.example/shop',
    description: 'Sells things',
    version: '1.0.0',
  }
  const remote = { type: 'streamable-http', url: 'https://shop.example.com/mcp' }
  const stdio = { registryType: 'npm', identifier: 'shop', version: '1.0.0', transport: { type: 'stdio' } }

  test.each([
    [{}],
    [{ remotes: [remote, { type: 'sse', url: 'https://shop.example.com/sse' }] }],
    [
      {
        remotes: [
          { ...remote, url: 'https://{tenant}.example.com/mcp', variables: { tenant: { isRequired: true } } },
        ],
      },
    ],
    [{ packages: [{ ...stdio, environmentVariables: [{ name: 'KEY', isSecret: true }] }] }],
    [
      {
        packages: [
          {
            ...stdio,
            packageArguments: [
              { type: 'positional', valueHint: 'file' },
              { type: 'named', name: '--port' },
            ],
          },
        ],
      },
    ],
    [
      {
        packages: [
          {
            registryType: 'mcpb',
            identifier: 'https://x.example/a.mcpb',
            fileSha256: 'a'.repeat(64),
            transport: { type: 'stdio' },
          },
        ],
      },
    ],
    [{ repository: { url: 'https://gitlab.com/group/sub/shop', source: 'gitlab', subfolder: 'a/b' } }],
  ])('nothing of %j', async (members) => {
    expect(await problemsOf({ ...valid, ...members })).toEqual([])
  })

  test.each([
    [{ name: 'shop' }, /^name: /],
    [{ name: 'a/b/c' }, /^name: /],
    [{ description: '' }, /^description: /],
    [{ version: '^1.2.3' }, /^version: "\^1\.2\.3" is not a single version/],
    [{ version: '1.x' }, /^version: /],
    [{ version: 'latest' }, /^version: /],
    [
      { $schema: 'https://static.modelcontextprotocol.io/schemas/2025-07-09/server.schema.json' },
      /^\$schema: /,
    ],
    [{ websiteUrl: 'http://shop.example.com' }, /^websiteUrl: /],
    [{ repository: { url: 'https://example.com/shop', source: 'github' } }, /^repository\.url: /],
    [
      { repository: { url: 'https://github.com/user/shop', source: 'github', subfolder: '../x' } },
      /^repository\.subfolder: /,
    ],
    [{ icons: [{ src: 'data:image/png;base64,AA==' }] }, /^icons\.0\.src: /],
    [{ remotes: [{ type: 'stdio' }] }, /^remotes\.0/],
    [
      { remotes: [{ ...remote, url: 'http://shop.example.com/mcp' }] },
      /^remotes\.0\.url: must be a public https URL/,
    ],
    [{ remotes: [{ ...remote, url: 'https://localhost/mcp' }] }, /^remotes\.0\.url: /],
    [
      { remotes: [{ ...remote, url: 'https://{tenant}.example.com/mcp' }] },
      /\{tenant\} is not in "variables"/,
    ],
    [{ remotes: [{ ...remote, headers: [{ isRequired: true }] }] }, /^remotes\.0\.headers\.0/],
    [{ packages: [{ ...stdio, version: 'latest' }] }, /^packages\.0\.version: /],
    [{ packages: [{ ...stdio, identifier: 'a b' }] }, /^packages\.0\.identifier: /],
    [{ packages: [{ ...stdio, registryType: 'mcpb' }] }, /^packages\.0\.fileSha256: /],
    [
      { packages: [{ ...stdio, transport: { type: 'stdio', url: 'https://x.example' } }] },
      /is not for stdio/,
    ],
    [
      { packages: [{ ...stdio, registry_type: 'npm' }] },
      /^packages\.0\.registry_type: the registry calls it registryType/,
    ],
    [
      { _meta: { 'io.modelcontextprotocol.registry/publisher-provided': { x: 'x'.repeat(5000) } } },
      /^_meta: /,
    ],
  ])('%j', async (members, problem) => {
    const problems = await problemsOf({ ...valid, ...members })
    expect(problems.length).toBeGreaterThan(0)
    expect(problems[0]).toMatch(problem)
  })

  test('a member that is missing, and what is no object', async () => {
    const { description: _, ...rest } = valid
    expect((await problemsOf(rest)).join()).toContain('description')
    expect(await problemsOf([])).not.toEqual([])
    expect(await problemsOf(null)).not.toEqual([])
  })
})
