/** docs/how-do-i.md: what people look for is there, in their words, and each option, function and command that it names exists. */
import { spawnSync } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { typeFaults } from '../_type-check.ts'
import exported from '../package/exports.json' with { type: 'json' }

const ROOT = join(import.meta.dirname, '../..')
const page = readFileSync(join(ROOT, 'docs/how-do-i.md'), 'utf8')

/** Where a reader's own text search must lead. */
const LOOKED_FOR = [
  'tutorial',
  'API key',
  'template',
  'timeout',
  'CORS',
  'per-user data',
  'Express',
  'Next.js',
  'logs',
  'environment variables',
  'secrets',
  'rate limit',
  'several servers',
  'test',
  'debug',
  'deploy',
  'preview',
  'custom domain',
  'path',
  'health check',
  'upload',
  'image',
  'long work',
  'background',
  'progress',
  'ask the user',
  'notif|changed',
  'cache',
  'database',
  'sessions',
  'Google',
  'Auth0',
  'OAuth',
  'who is calling',
  'error',
  'version',
  'Claude',
  'ChatGPT',
  'VS Code',
  'Cursor',
  'OpenAPI',
  'stdio',
  'resources',
  'prompts',
  'monorepo',
  'costs',
  'Docker',
]

interface Entry {
  readonly question: string
  readonly answer: string
  readonly code: readonly string[]
}

const entries: readonly Entry[] = Array.from(
  page.matchAll(/^- \*\*([^*]+)\*\*\s+([\s\S]*?)(?=^- |^#|^\s*$)/gm),
  ([, question, answer]) => ({
    question: question!,
    answer: answer!,
    code: Array.from(answer!.matchAll(/`([^`]+)`/g), ([, code]) => code!.replaceAll(/\s+/g, ' ')),
  }),
)

it('has 40 entries or more, and each is short and leads on', () => {
  expect(entries.length).toBeGreaterThanOrEqual(40)
  expect(entries.filter(({ answer }) => !/\]\([\w/-]+\.md/.test(answer))).toEqual([])
  expect(entries.filter(({ answer }) => answer.split(/\s+/).length > 50)).toEqual([])
})

it.each(LOOKED_FOR)('%s', (words) => {
  expect(entries.filter(({ question }) => new RegExp(words, 'i').test(question))).not.toEqual([])
})

describe('each name exists:', () => {
  const folder = mkdtempSync(join(ROOT, 'test/docs/.names-'))
  let faults: string[] = []
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  const named = [...new Set(entries.flatMap(({ code }) => code))]
  const proofs = named.map((code, at) => ({ code, file: join(folder, `${at}.ts`), proof: proofOf(code) }))

  beforeAll(() => {
    const typed = proofs.filter(({ proof }) => proof !== undefined)
    for (const { file, proof } of typed) writeFileSync(file, proof!)
    faults = typeFaults(
      typed.map(({ file }) => file),
      {
        extends: join(ROOT, 'tsconfig.json'),
        compilerOptions: {
          noUnusedLocals: false,
          noUnusedParameters: false,
          typeRoots: [join(ROOT, 'node_modules/@types')],
        },
        exclude: [],
      },
    )
  })

  it.each(proofs)('$code', ({ code, file, proof }) => {
    if (proof === undefined) return expect(isThere(code)).toBe(true)
    expect(faults.filter((fault) => fault.includes(file.slice(ROOT.length + 1)))).toEqual([])
  })

  it('a name that does not exist is noticed', () => {
    expect(isThere('mayfly deploy --secrets NAME')).toBe(false)
    expect(isThere('mayfly run')).toBe(false)
    expect(isThere('MAYFLY_LOGS')).toBe(false)
    expect(isThere('mayfly-mcp/express')).toBe(false)
    expect(isThere('withAuth(server)')).toBe(false)
    const file = join(folder, 'wrong.ts')
    for (const code of ['http.maxCalls', 'ctx.user', "log: 'some'", 'scope', 'task.versions']) {
      writeFileSync(file, proofOf(code)!)
      expect(typeFaults([file], { extends: join(ROOT, 'tsconfig.json'), exclude: [] }), code).not.toEqual([])
    }
  })
})

const IMPORTS =
  "import type { AnyTool, CallToolResult, McpContext, MCPServer, MCPServerConfig } from 'mayfly-mcp'\n"

const ROOTS: { readonly [root: string]: string } = {
  ctx: 'McpContext',
  http: "NonNullable<MCPServerConfig['http']>",
  server: 'MCPServer',
  task: "Exclude<NonNullable<AnyTool['task']>, string>",
}

/** A module that compiles only if a member or an option exists, and takes that value; undefined for any other code. */
function proofOf(code: string): string | undefined {
  if (OTHERS.includes(code)) return undefined
  const [, root = '', members = ''] = /^(?:await )?(ctx|http|server|task)\.([\w.]+)/.exec(code) ?? []
  if (root !== '') return `${IMPORTS}export type Named = ${memberType(ROOTS[root]!, members.split('.'))}`
  if (code.startsWith('{ content'))
    return `${IMPORTS}const [data, mimeType] = ['', 'image/png']
export const result: CallToolResult = ${code}`
  if (/^\w+: /.test(code))
    return `${IMPORTS}${importsOf(code)}
const [domain, audience] = ['', '']
export const options: Partial<MCPServerConfig> | Pick<AnyTool, 'task' | 'scopes'> = { ${code.replace('…', '[]')} }
export { audience, domain }`
  if (/^[a-z]\w*$/.test(code) && entryOf(code) === undefined)
    return `${IMPORTS}export const name: keyof MCPServerConfig | keyof AnyTool = '${code}'`
  return undefined
}

function memberType(type: string, members: readonly string[]): string {
  return members.reduce((of, member) => `Exclude<NonNullable<${of}['${member}']>, string>`, type)
}

/** Of the functions that the code calls. */
function importsOf(code: string): string {
  const called = Array.from(code.matchAll(/\w+(?=\()/g), ([name]) => name)
  return called
    .filter((name) => entryOf(name) !== undefined)
    .map((name) => `import { ${name} } from '${entryOf(name)}'\n`)
    .join('')
}

function entryOf(name: string): string | undefined {
  return Object.entries(exported).find(([, { values }]) => (values as readonly string[]).includes(name))?.[0]
}

/** Is no name of ours. */
const OTHERS = ['.env', 'server.json', 'fetch', 'execute', 'extra.sub', 'answers']

/** Commands with their options, functions, entry points, variables, paths. */
function isThere(code: string): boolean {
  const [, command] = /^(?:npx )?mayfly(?:-mcp)? (\w+)/.exec(code) ?? []
  if (command !== undefined) return isCommand(command, code)
  if (code.startsWith('mayfly-mcp')) return Object.hasOwn(exported, code)
  const [variable] = /^[A-Z]+_[A-Z_]+\b/.exec(code) ?? []
  if (variable !== undefined) return new RegExp(`\\b${variable}\\b`).test(sources())
  if (code.startsWith('GET ')) return sources().includes(`'${code.replace('GET ', '')}'`)
  if (OTHERS.includes(code)) return true
  const called = /^(?:export default |app\.\w+\('[^']*', )?(\w+)/.exec(code)?.[1]
  return called !== undefined && entryOf(called) !== undefined
}

const helps = new Map<string, string>()

/** Also the values that an option takes. */
function isCommand(command: string, code: string): boolean {
  const help = helps.get(command) ?? helpOf(command)
  helps.set(command, help)
  const options = Array.from(code.matchAll(/ (--[\w-]+)(?: ([a-z][\w-]+))?/g))
  return (
    help !== '' &&
    options.every(
      ([, option, value]) =>
        new RegExp(`${option}\\b(?!-)`).test(help) && (value === undefined || help.includes(value)),
    )
  )
}

function helpOf(command: string): string {
  const cli = join(ROOT, 'deploy/cli.ts')
  const { status, stdout } = spawnSync(process.execPath, [cli, command, '--help'], { encoding: 'utf8' })
  return status === 0 ? stdout : ''
}

let text: string | undefined

function sources(): string {
  text ??= globSync('{src,adapters,deploy}/**/*.ts', { cwd: ROOT })
    .map((file) => readFileSync(join(ROOT, file), 'utf8'))
    .join('\n')
  return text
}
