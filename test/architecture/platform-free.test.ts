import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { type Module, parseModule, placeOf, readModules, walk } from './_modules.ts'

const src = readModules('src')

/** Globals that only some platforms have, or that edge platforms forbid. */
const FOREIGN_GLOBALS = new Set([
  'process',
  'Buffer',
  'require',
  'module',
  'exports',
  '__dirname',
  '__filename',
  'global',
  'setImmediate',
  'Deno',
  'Bun',
  'EdgeRuntime',
  'WebSocketPair',
  'HTMLRewriter',
  'caches',
  'importScripts',
  'awslambda',
  'Netlify',
  'window',
  'document',
  'eval',
  'Function',
])

/** Platforms by name, as a word of an identifier (`lambdaEvent`) or of a text. */
const PLATFORM =
  /(?<![a-z])(cloudflare|workerd|wrangler|vercel|lambda|aws|netlify|supabase|deno|bun|nodejs|fastly|azure)(?![a-z])/i

const splitWords = (name: string): string => name.replace(/([a-z0-9])([A-Z])/g, '$1 $2').replaceAll('_', ' ')

/** Whether an identifier refers to a variable: not a member of something, nor the name of one. */
function isReference(node: ts.Identifier): boolean {
  const { parent } = node
  if (ts.isPropertyAccessExpression(parent) || ts.isQualifiedName(parent))
    return parent.getFirstToken() === node
  if (ts.isPropertyAssignment(parent) || ts.isPropertySignature(parent)) return parent.name !== node
  return !(ts.isMethodDeclaration(parent) || ts.isMethodSignature(parent) || ts.isPropertyDeclaration(parent))
}

/** Each place that ties a module to a platform. Comments may name what they like. */
function platformTies({ source }: Module): string[] {
  const ties: string[] = []
  const add = (node: ts.Node, what: string) => ties.push(`${placeOf(node)} ${what}`)
  walk(source, (node) => {
    if (ts.isIdentifier(node)) {
      if (FOREIGN_GLOBALS.has(node.text) && isReference(node)) add(node, node.text)
      if (PLATFORM.test(splitWords(node.text))) add(node, node.text)
    } else if (
      ts.isStringLiteralLike(node) ||
      ts.isTemplateHead(node) ||
      ts.isTemplateMiddleOrTemplateTail(node)
    ) {
      if (node.text.startsWith('node:')) add(node, node.text)
      const found = PLATFORM.exec(node.text)
      if (found !== null) add(node, found[0])
    } else if (ts.isMetaProperty(node)) {
      add(node, 'import.meta')
    }
  })
  return ties
}

/** What `.` does not reach: entry points of their own. */
const OPTIONAL = [
  /^src\/(?:otel|sdk|from-node|client|mcp-use-client|gateway|retrieval|sign-in|mcp-events|keyed|testing)(?:\.ts|\/)/,
]

describe('src', () => {
  it('names no platform, and nothing that only one has', () => {
    expect(src.length).toBeGreaterThan(30)
    // Cloudflare Access and Supabase Auth issue tokens, wherever the server runs that checks them. A library has a platform's name.
    const issuers = [
      'src/auth.ts',
      'src/auth/presets.ts',
      'src/sign-in/cognito.ts',
      'src/sign-in/tokens/library.ts',
    ]
    const modules = src.filter(({ file }) => !issuers.includes(file))
    // One variable is read where there is a process: two stages must not be one where a framework passes no variables.
    const stage = modules.filter(({ file }) => file === 'src/definition/stage.ts').flatMap(platformTies)
    expect(stage.map((tie) => tie.split(' ').at(-1))).toEqual(['process', 'process'])
    expect(modules.filter(({ file }) => file !== 'src/definition/stage.ts').flatMap(platformTies)).toEqual([])
  })

  it('imports from packages what package.json lists as dependencies', async () => {
    const { default: manifest } = await import('../../package.json', { with: { type: 'json' } })
    const packages = src.flatMap(({ file, imports }) =>
      imports
        .filter((one) => one.file === undefined)
        .map(({ specifier }) => ({
          file,
          name: specifier
            .split('/')
            .slice(0, specifier.startsWith('@') ? 2 : 1)
            .join('/'),
        })),
    )
    // An entry point of its own may need what only its users install; the one that everybody imports may not.
    const allowed = { ...manifest.dependencies, ...manifest.peerDependencies }
    const ofEverybody = packages.filter(({ file }) => !OPTIONAL.some((entry) => entry.test(file)))
    // They become a part of the entry point: nobody installs them.
    const bundled = [
      { file: 'src/sign-in/tokens/library.ts', name: '@cloudflare/workers-oauth-provider' },
      ...[
        'library-options',
        'exchange',
        'faults',
        'id-token',
        'identity',
        'metadata',
        'refresh',
        'token-answer',
      ].map((room) => ({ file: `src/sign-in/upstream/openid/${room}.ts`, name: 'oauth4webapi' })),
    ]
    const others = packages.filter(
      ({ file, name }) =>
        !Object.hasOwn(allowed, name) && !bundled.some((one) => one.file === file && one.name === name),
    )
    // What starts processes is Node's affair: an entry point that the client loads where there are any.
    // A model by name needs the package of its provider, which only few servers have.
    expect(others).toEqual([
      { file: 'src/client/stdio.ts', name: manifest.name },
      { file: 'src/retrieval/named-model.ts', name: 'packageName' },
    ])
    expect(ofEverybody.filter(({ name }) => !Object.hasOwn(manifest.dependencies, name))).toEqual([])
  })
})

describe('this test', () => {
  it.each([
    `import { readFile } from 'node:fs'`,
    `const secret = process.env.SECRET`,
    `const isNode = typeof process !== 'undefined'`,
    `const bytes = Buffer.from('x')`,
    `const dir = __dirname`,
    `export const onVercel = true`,
    `function toLambdaEvent() {}`,
    `const message = 'works on Cloudflare alone'`,
    `const message = \`deployed to $\{name} by wrangler\``,
    `const cache = caches.default`,
    `const run = new Function('x')`,
    `const here = import.meta.url`,
    `const { env } = { env: process }`,
  ])('sees %s', (code) => {
    expect(platformTies(parseModule('src/bad.ts', code))).not.toEqual([])
  })

  it.each([
    `// Cloudflare counts time differently\nconst node = 1`,
    `const fact = { process: 1, module: 2 }; fact.process`,
    `const text = 'one process, some node, a bundle'`,
    `interface Window { document: string }`,
    `type Denominator = 'bunch' | 'lambdas'`,
  ])('lets pass %j', (code) => {
    expect(platformTies(parseModule('src/good.ts', code))).toEqual([])
  })
})
