/** What `mayfly dev` and `doctor` say of scopes, secrets and variables of sign-in: spawned for real. */
import { afterAll, describe, expect, test } from 'vitest'
import { testPort } from '../_port.ts'
import { MayflyProcess, Project, stopAll } from './_dev-process.ts'

afterAll(stopAll)

const SECRET = 'b6f1e0c4a9d84f2e8c7b5a3910de47aa'
const GIVEN = 'GOOGLE_ID=an-id\nGOOGLE_SECRET=a-secret\n'

const server = (options: string, wrap = ''): string => `import { createTool, MCPServer } from 'mayfly-mcp'
import { anyOf, staticTokens } from 'mayfly-mcp/auth'
import { createMemoryGrants, signIn } from 'mayfly-mcp/sign-in'
import { google } from 'mayfly-mcp/sign-in/google'
const agenda = createTool({ id: 'agenda', description: 'Appointments', scopes: ['calendar'], execute: () => 'none' })
const people = signIn({
  upstream: google({ clientId: (env) => env.GOOGLE_ID, clientSecret: (env) => env.GOOGLE_SECRET }),
  ${options}
})
const tokens = staticTokens([{ token: 'a-token-of-a-machine', clientId: 'ci', scopes: ['calendar'] }])
export default new MCPServer({ id: 'notes', name: 'Notes', version: '1', tools: { agenda }, auth: ${wrap || 'people'} })
`

const LOCAL = 'store: createMemoryGrants(),'
const SHARED = 'store: { ...createMemoryGrants(), isLocal: false },'
const DICE = "scopes: { dice: 'Roll dice' }, required: ['dice'],"
const BOTH = "scopes: { dice: 'Roll dice', calendar: 'Read your calendar' }, required: ['dice'],"

function arrange(source: string, env: string): Project {
  const project = new Project()
  project.linkPackage()
  project.write('package.json', '{ "name": "notes", "type": "module" }')
  project.write('.env', env)
  project.write('server.ts', source)
  return project
}

interface Finding {
  readonly level: string
  readonly message: string
}

async function doctor(source: string, env = `${GIVEN}MAYFLY_SECRET=${SECRET}\n`): Promise<Finding[]> {
  await using project = arrange(source, env)
  const args = ['doctor', '--target', 'node', '--json']
  const { stdout } = await new MayflyProcess(args, project.folder).exited
  return (JSON.parse(stdout) as { findings: Finding[] }).findings
}

const UNDECLARED =
  'nobody can use the tool agenda: signIn does not give out the scope calendar that it needs; add it to "scopes" of signIn'

describe('mayfly doctor', { timeout: 180_000 }, () => {
  test.for([
    ['that signIn does not declare → a warning', server(LOCAL + DICE), 'warning', UNDECLARED],
    ['that it declares → nothing', server(LOCAL + BOTH), undefined, undefined],
    [
      'that is not among the initial ones → when it is listed',
      server(`${LOCAL + BOTH} initialScopes: ['dice'],`),
      'ok',
      'the tool agenda is not listed after a first sign-in: its scope calendar is not in "initialScopes" of signIn',
    ],
    [
      'that a token may have → nothing',
      server(LOCAL + DICE, 'anyOf([people, tokens])'),
      undefined,
      undefined,
    ],
  ] as const)('a scope %s', async ([, source, level, message]) => {
    const found = (await doctor(source)).filter(({ message: text }) => text.includes('agenda'))
    expect(found).toEqual(message === undefined ? [] : [{ level, message }])
  })

  test.for([
    [
      'MAYFLY_SECRET that is not set',
      '',
      'MAYFLY_SECRET is not set: sign-in needs it; put 32 or more random',
    ],
    ['a short MAYFLY_SECRET', 'MAYFLY_SECRET=short\n', 'MAYFLY_SECRET (.env) is weak: make one with openssl'],
  ])('%s → one error', async ([, env, message]) => {
    const found = await doctor(server(SHARED + BOTH), GIVEN + env)
    const errors = found.filter(({ level }) => level === 'error')
    expect(errors).toEqual([{ level: 'error', message: expect.stringContaining(message!) }])
  })

  test('without a secret and with a store in memory, it names sign-in, too', async () => {
    const found = await doctor(server(LOCAL + BOTH), GIVEN)
    expect(found).toContainEqual({
      level: 'warning',
      message: expect.stringContaining('MAYFLY_SECRET is not set: sign-in needs it'),
    })
  })
})

test.for(['node', 'cloudflare'])(
  'mayfly dev --target %s says who signs people in once .env has the variables, and what a new scope lacks',
  { timeout: 180_000 },
  async (target) => {
    await using project = arrange(server(LOCAL + BOTH), '')
    const args = ['dev', '--target', target, '--port', String(await testPort())]
    await using mayfly = new MayflyProcess(args, project.folder)
    await mayfly.ready()
    await mayfly.says('a stand-in asks who somebody is')
    project.write('.env', GIVEN)
    await mayfly.says('people sign in with Google')
    project.write('server.ts', server(LOCAL + DICE))
    await mayfly.says(UNDECLARED.slice(0, 40))
    project.write('.env', '')
    await mayfly.says(/people sign in with Google[\s\S]*a stand-in asks who somebody is/)
  },
)
