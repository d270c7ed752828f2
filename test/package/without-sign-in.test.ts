/**
 * Who does not use sign-in or Events does not pay for them: a bundle of any other server has no byte of them, from the sources and from the
 * package.
 */
import { globSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { build, type Plugin } from 'esbuild'
import { describe, expect, it } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { ROOT } from './_packed.ts'

const server = (imports: string, options = '', rest = 'export default server'): string => `
import { createTool, MCPServer } from 'mayfly-mcp'
${imports}
const server = new MCPServer({ id: 'x', name: 'X', version: '1', tools: { one: createTool({ id: 'one', execute: () => '' }) }, ${options} })
${rest}`

const WITH_SIGN_IN = server(
  `import { durableObjectEvents, durableObjectGrants, MayflyEvents, MayflyGrants } from 'mayfly-mcp/cloudflare'
  import { dynamoEvents, dynamoEventTable, dynamoGrants, dynamoGrantTable } from 'mayfly-mcp/dynamodb'
  import { postgresEvents, postgresEventSchema, postgresGrants, postgresGrantSchema } from 'mayfly-mcp/postgres'
  import { redisEvents, redisGrants } from 'mayfly-mcp/redis'
  import * as signIn from 'mayfly-mcp/sign-in'
  import * as github from 'mayfly-mcp/sign-in/github'
  import * as google from 'mayfly-mcp/sign-in/google'
  import * as entra from 'mayfly-mcp/sign-in/entra'
  import * as cognito from 'mayfly-mcp/sign-in/cognito'`,
  '',
  `export { server, signIn, github, google, entra, cognito, durableObjectGrants, MayflyGrants, dynamoGrants, dynamoGrantTable, postgresGrants, postgresGrantSchema, redisGrants,
  durableObjectEvents, MayflyEvents, dynamoEvents, dynamoEventTable, postgresEvents, postgresEventSchema, redisEvents }`,
)

const WITHOUT: { readonly [name: string]: string } = {
  'without auth': server(''),
  'with tokens of an issuer': server(
    `import { jwt } from 'mayfly-mcp/auth'`,
    `auth: jwt({ issuer: 'https://issuer.example' })`,
  ),
  'with API keys, or tokens of an issuer': server(
    `import { anyOf, apiKeys, introspection, jwt, staticTokens } from 'mayfly-mcp/auth'`,
    '',
    'export { server, anyOf, apiKeys, introspection, jwt, staticTokens }',
  ),
  ...Object.fromEntries(
    [
      ['node', 'serve'],
      ['lambda', 'lambda, streamingLambda'],
      ['vercel', 'vercel'],
      ['netlify', 'netlify'],
      ['supabase', 'supabase'],
    ].map(([entry, names]) => [
      `by mayfly-mcp/${entry}`,
      server(`import { ${names} } from 'mayfly-mcp/${entry}'`, '', `export { server, ${names} }`),
    ]),
  ),
  'with tasks and API keys in Postgres': withNames('postgres', 'postgresTaskStore, postgresKeyStore'),
  'with tasks and API keys in Redis': withNames('redis', 'redisTaskStore, redisKeyStore'),
  'with tasks in DynamoDB': withNames('dynamodb', 'dynamoTaskStore, dynamoTaskTable'),
  'with Durable Objects': withNames('cloudflare', 'durableObjectRendezvous, MayflyRendezvous, MayflyTasks'),
}

function withNames(entry: string, names: string): string {
  return server(`import { ${names} } from 'mayfly-mcp/${entry}'`, '', `export { server, ${names} }`)
}

const isOfSignIn = (path: string): boolean =>
  /(?:^|\/)src\/(?:sign-in|mcp-events|keyed)[./]|(?:grants?|keyed)(?:-[a-z]+)?\.ts$|(?:^|\/)adapters\/(?:_\w+\/|cloudflare-)event(?:s|-sender)\.ts$|workers-oauth-provider|oauth4webapi/.test(
    path,
  )

/** Our own entries, and with them what the package brings; what users bring stays outside. */
const own = (from: 'src' | 'dist'): Plugin => ({
  name: 'own',
  setup({ onResolve }) {
    onResolve({ filter: /^[^./]/ }, ({ path }) => {
      const entry = manifest.exports[path.replace('mayfly-mcp', '.') as './auth'] as
        | { readonly default: string }
        | undefined
      if (entry === undefined)
        return /^(?:@cloudflare\/workers-oauth-provider|oauth4webapi)$/.test(path)
          ? undefined
          : { path, external: true }
      const built = entry.default
      return {
        path: join(ROOT, from === 'dist' ? built : built.replace('./dist/', '').replace(/\.js$/, '.ts')),
      }
    })
  },
})

/** Minified, but for names: all that is loaded at once or later. */
async function bundle(contents: string, from: 'src' | 'dist') {
  const { outputFiles, metafile } = await build({
    stdin: { contents, resolveDir: ROOT, loader: 'ts' },
    bundle: true,
    write: false,
    metafile: true,
    minifySyntax: true,
    minifyWhitespace: true,
    platform: 'neutral',
    mainFields: ['module', 'main'],
    format: 'esm',
    target: 'es2024',
    legalComments: 'none',
    logLevel: 'error',
    plugins: [own(from)],
  })
  const inputs = Object.values(metafile.outputs).flatMap((output) => Object.entries(output.inputs))
  const modules = inputs
    .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
    .map(([path]) => relative(ROOT, join(process.cwd(), path)))
  return { code: outputFiles[0]!.text, modules }
}

/** Texts that only modules of sign-in have, such as its messages and the names of its entries. */
function textsOfSignIn(): string[] {
  const all = globSync('{src,adapters}/**/*.ts', { cwd: ROOT })
  const read = (isWanted: (path: string) => boolean): string =>
    all
      .filter(isWanted)
      .map((path) => readFileSync(join(ROOT, path), 'utf8').replaceAll(/^\s*(?:\/?\*|\/\/|import ).*$/gm, ''))
      .join('\n')
  const others = read((path) => !isOfSignIn(path))
  const found = [...read(isOfSignIn).matchAll(/'([^'\\\n]{10,})'/g)].map(([, text = '']) => text)
  return [...new Set(found)].filter((text) => !others.includes(text) && !/^\.{1,2}\//.test(text))
}

const TEXTS = textsOfSignIn()

it('what is looked for is in a bundle with sign-in', async () => {
  const [sources, built] = [await bundle(WITH_SIGN_IN, 'src'), await bundle(WITH_SIGN_IN, 'dist')]
  expect(sources.modules.filter(isOfSignIn).length).toBeGreaterThan(35)
  expect(TEXTS.filter((text) => built.code.includes(text)).length).toBeGreaterThan(200)
})

describe.each(Object.entries(WITHOUT))('a server %s', (_name, contents) => {
  it('has no module of it, from the sources', async () => {
    const { modules } = await bundle(contents, 'src')
    expect(modules).toContain('src/server.ts')
    expect(modules.filter(isOfSignIn)).toEqual([])
  })

  it('has no text of it, from the package', async () => {
    const { code } = await bundle(contents, 'dist')
    expect(TEXTS.filter((text) => code.includes(text))).toEqual([])
  })
})
