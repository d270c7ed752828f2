/** What `mayfly doctor` and `build` say about a server that signs people in: spawned for real. */

import { chmodSync, mkdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { CLIENT, startOpenIdProvider } from '../unit/sign-in/_provider.ts'
import { MayflyProcess, Project } from './_dev-process.ts'

const SECRET = 'b6f1e0c4a9d84f2e8c7b5a3910de47aa'
const ID = 'an-id-that-nobody-prints'
const GIVEN = `GOOGLE_ID=${ID}\nGOOGLE_SECRET=a-secret-that-nobody-prints\nMAYFLY_SECRET=${SECRET}\n`

/** A stand-in that builds nothing, and says that it has deployed. */
function writeWrangler(project: Project): void {
  const folder = join(project.folder, 'node_modules/wrangler')
  mkdirSync(folder)
  project.write(
    'node_modules/wrangler/package.json',
    '{ "name": "wrangler", "version": "4.155.0", "bin": "cli.js" }',
  )
  project.write(
    'node_modules/wrangler/cli.js',
    `#!${process.execPath}
const { writeFileSync } = require('node:fs')
const args = process.argv.slice(2)
if (args.includes('--dry-run')) {
  writeFileSync(args[args.indexOf('--outdir') + 1] + '/server.js', 'export default {}')
  process.exit(0)
}
if (args[0] === 'check') process.exit(1)
if (args[0] === 'whoami') process.exit(0)
console.log('Uploaded')
const report = { type: 'deploy', targets: ['https://notes.acme.workers.dev'] }
if (process.env.WRANGLER_OUTPUT_FILE_PATH) writeFileSync(process.env.WRANGLER_OUTPUT_FILE_PATH, JSON.stringify(report) + '\\n')
`,
  )
  chmodSync(join(folder, 'cli.js'), 0o755)
  project.write('wrangler.toml', 'name = "notes"\n')
}

interface Finding {
  level: string
  message: string
}

interface Arranged {
  readonly store?: string
  readonly http?: string
  readonly env?: string
  readonly more?: string
  readonly upstream?: string
}

const SHARED = '{ ...createMemoryGrants(), isLocal: false }'

function arrange({ store = SHARED, http = '', env = GIVEN, more = '', upstream }: Arranged = {}): Project {
  const project = new Project()
  project.linkPackage()
  project.write('package.json', JSON.stringify({ name: 'notes', type: 'module' }))
  project.write('.env', env)
  project.write(
    'server.ts',
    `import { createTool, MCPServer } from 'mayfly-mcp'
import { createMemoryGrants, oidc, signIn } from 'mayfly-mcp/sign-in'
import { google } from 'mayfly-mcp/sign-in/google'
import { durableObjectGrants } from 'mayfly-mcp/cloudflare'
${more}
const hello = createTool({ id: 'hello', description: 'Says hello', execute: () => 'hello' })
export default new MCPServer({ id: 'notes', name: 'Notes', version: '1', tools: { hello }, ${http}
  auth: signIn({
    upstream: ${upstream ?? 'google({ clientId: (env) => env.GOOGLE_ID, clientSecret: (env) => env.GOOGLE_SECRET })'},
    store: ${store}, scopes: { notes: 'Read your notes' } }) })
`,
  )
  return project
}

async function doctor(
  project: Project,
  target: string,
  ...args: string[]
): Promise<{ code: number | null; findings: Finding[]; stdout: string }> {
  const { code, stdout } = await new MayflyProcess(
    ['doctor', '--target', target, '--json', ...args],
    project.folder,
  ).exited
  return { code, stdout, findings: (JSON.parse(stdout) as { findings: Finding[] }).findings }
}

const finding = (level: string, text: string): unknown => ({ level, message: expect.stringContaining(text) })

describe('mayfly doctor of a server with sign-in', { timeout: 180_000 }, () => {
  test('names the provider, its variables and both redirect URLs, and prints no value', async () => {
    await using project = arrange({ http: "http: { publicUrl: 'https://notes.example/a/mcp' }," })
    const { code, findings, stdout } = await doctor(project, 'node')
    expect(findings).toContainEqual(finding('ok', 'with Google: GOOGLE_ID and GOOGLE_SECRET are set'))
    expect(findings).toContainEqual(finding('ok', 'Google: https://notes.example/a/oauth/callback'))
    expect(findings).toContainEqual(finding('ok', 'http://127.0.0.1:3000/oauth/callback'))
    expect(findings).toContainEqual(finding('ok', 'knows its public URL'))
    expect(findings).toContainEqual(finding('warning', 'all callers have its address'))
    expect(code).toBe(0)
    expect(stdout).not.toMatch(/nobody-prints|b6f1e0/)
  })

  test('names all variables that are not set at once, and those that are', async () => {
    await using project = arrange({ env: `GOOGLE_ID=${ID}\nMAYFLY_SECRET=${SECRET}\n` })
    const { code, findings } = await doctor(project, 'node')
    const wrong = findings.filter(({ level }) => level === 'error')
    expect(wrong).toEqual([
      finding('error', 'with Google: GOOGLE_SECRET is not set, GOOGLE_ID is set; put what Google gave you'),
    ])
    expect(wrong[0]!.message).toContain('mayfly deploy --secret GOOGLE_SECRET')
    expect(code).toBe(1)
  })

  test('MAYFLY_SECRET is not set → one error', async () => {
    await using project = arrange({ env: 'GOOGLE_ID=i\nGOOGLE_SECRET=s\n' })
    const { findings } = await doctor(project, 'node')
    const ofSecret = findings.filter(({ message }) => message.includes('MAYFLY_SECRET'))
    expect(ofSecret).toEqual([finding('error', 'MAYFLY_SECRET is not set: sign-in needs it; put')])
  })

  test.for([
    ['vercel', 'https://<host>/oauth/callback', 'http://127.0.0.1:3000/oauth/callback'],
    ['cloudflare', 'https://<host>/oauth/callback', 'http://127.0.0.1:8787/oauth/callback'],
    [
      'supabase',
      'https://<host>/functions/v1/notes/oauth/callback',
      ':54321/functions/v1/notes/oauth/callback',
    ],
  ] as const)('%s, whose host is not known → %s', async ([target, url, local]) => {
    await using project = arrange()
    const { findings } = await doctor(project, target)
    expect(findings).toContainEqual(finding('ok', url))
    expect(findings).toContainEqual(finding('ok', local))
  })

  test.for([
    ['', true],
    ['http: { trustProxy: true },', true],
    ["http: { publicUrl: 'https://notes.example/mcp' },", false],
  ] as const)('node with %j → it warns that sign-in answers 503: %s', async ([http, isWarned]) => {
    await using project = arrange({ http })
    const { findings } = await doctor(project, 'node')
    const warned = findings.filter(({ message }) => message.includes('503'))
    expect(warned).toEqual(isWarned ? [finding('warning', 'set http.publicUrl')] : [])
    const { findings: elsewhere } = await doctor(project, 'vercel')
    expect(elsewhere.some(({ message }) => message.includes('503'))).toBe(false)
  })

  test.for([
    ['vercel', 'error', 'so nobody stays signed in'],
    ['lambda', 'error', 'so nobody stays signed in'],
    ['node', 'warning', 'must sign in again when it ends'],
  ] as const)('connections in memory on %s → %s', async ([target, level, text]) => {
    await using project = arrange({ store: 'createMemoryGrants()' })
    const { findings } = await doctor(project, target)
    expect(findings).toContainEqual(finding(level, text))
    await using other = arrange()
    const { findings: none } = await doctor(other, target)
    expect(none.some(({ message }) => message.includes('in the memory'))).toBe(false)
  })

  test('Lambda makes the table of connections → memory is only for this machine', async () => {
    await using project = arrange({ store: 'createMemoryGrants()' })
    const mayfly = { grants: 'dynamodb' }
    project.write('package.json', JSON.stringify({ name: 'notes', type: 'module', mayfly }))
    const { findings } = await doctor(project, 'lambda')
    expect(findings).toContainEqual(finding('ok', 'makes the table'))
    expect(findings.some(({ message }) => message.includes('in the memory'))).toBe(false)
  })

  test.for([
    ['', true],
    ["http: { publicUrl: 'https://ref.supabase.co/functions/v1/notes/mcp' },", true],
    ["http: { publicUrl: 'https://notes.example/functions/v1/notes/mcp' },", false],
  ] as const)('Supabase with %j → it warns that pages are text: %s', async ([http, isWarned]) => {
    await using project = arrange({ http })
    const { findings } = await doctor(project, 'supabase')
    const warned = findings.filter(({ message }) => message.includes('pages as text'))
    expect(warned).toEqual(isWarned ? [finding('warning', 'custom domain')] : [])
  })

  test('a server without sign-in hears nothing of it', async () => {
    await using project = arrange()
    const text = readFileSync(join(project.folder, 'server.ts'), 'utf8')
    project.write('server.ts', text.replace(/auth: signIn[\s\S]*\}\) \}\)/, '})'))
    const { findings } = await doctor(project, 'supabase')
    expect(findings.filter(({ message }) => /sign|redirect|pages/.test(message))).toEqual([])
  })

  test.for([
    ['', true],
    ["http: { publicUrl: 'https://notes.example/mcp' },", false],
  ] as const)(
    'mayfly deploy with %j names the redirect URL of what it has deployed: %s',
    async ([http, isNamed]) => {
      await using project = arrange({ http })
      writeWrangler(project)
      const args = ['deploy', '--target', 'cloudflare', '--no-check']
      const { code, stdout, stderr } = await new MayflyProcess(args, project.folder).exited
      const url = 'https://notes.acme.workers.dev/mcp'
      expect({ code, stdout }, stderr).toEqual({ code: 0, stdout: `deployed ${url}\n` })
      const note = `register https://notes.acme.workers.dev/oauth/callback with the provider as redirect URL; npx mayfly doctor --online --url ${url} asks`
      expect(stderr.replaceAll(/\s+/g, ' ').includes(note)).toBe(isNamed)
    },
  )

  test('mayfly build warns of connections in memory', async () => {
    await using project = arrange({ store: 'createMemoryGrants()' })
    const { stderr, code } = await new MayflyProcess(['build', '--target', 'vercel'], project.folder).exited
    expect({ code, stderr }).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('nobody stays signed in'),
    })
  })
})

describe('mayfly doctor --online', { timeout: 180_000 }, () => {
  const LOGIN = "http: { publicUrl: 'https://notes.example/mcp' },"

  function withLogin(issuer: string, { secret = CLIENT.clientSecret, http = LOGIN } = {}): Project {
    return arrange({
      http,
      env: `LOGIN=${issuer}\nLOGIN_ID=${CLIENT.clientId}\nLOGIN_SECRET="${secret}"\nMAYFLY_SECRET=${SECRET}\n`,
      upstream:
        "oidc({ name: 'Login', issuer: (env) => env.LOGIN, clientId: (env) => env.LOGIN_ID, clientSecret: (env) => env.LOGIN_SECRET })",
    })
  }

  const REGISTERED = { redirectUri: 'https://notes.example/oauth/callback' }

  test('a provider that knows all of it', async () => {
    await using provider = await startOpenIdProvider(REGISTERED)
    await using project = withLogin(provider.issuer)
    const { code, findings } = await doctor(project, 'node', '--online')
    for (const text of [
      'Login answers, and its metadata fits',
      'Login accepts the client id and the secret',
      'Login accepts the client id and the redirect URL, as far as it says before anybody signs in',
    ])
      expect(findings).toContainEqual({ level: 'ok', message: text })
    expect(code).toBe(0)
  })

  test('another secret, and another host by --url → errors, without a value of a variable', async () => {
    await using provider = await startOpenIdProvider(REGISTERED)
    await using project = withLogin(provider.issuer, { secret: 'another-secret-that-is-wrong' })
    const { code, findings, stdout } = await doctor(
      project,
      'node',
      ...['--online', '--url', 'https://other.example/mcp'],
    )
    expect(findings.filter(({ level }) => level === 'error')).toEqual([
      finding('error', 'Login refuses the client id or the secret'),
      finding('error', 'does not know the redirect URL: register https://other.example/oauth/callback'),
    ])
    expect(findings).toContainEqual(finding('ok', 'Login: https://other.example/oauth/callback'))
    expect(code).toBe(1)
    expect(stdout).not.toContain('another-secret')
    expect(stdout).not.toContain(new URL(provider.issuer).host)
  })

  test('a host that is not known → says so', async () => {
    await using provider = await startOpenIdProvider(REGISTERED)
    await using project = withLogin(provider.issuer, { http: '' })
    const { findings } = await doctor(project, 'vercel', '--online')
    expect(findings).toContainEqual(finding('ok', 'Login accepts the client id and the secret'))
    expect(findings).toContainEqual(finding('ok', 'was not asked, since the host is not known'))
  })

  test('without --online, or without all variables, nobody is asked', async () => {
    let asked = 0
    const http = createServer((_request, response) => {
      asked++
      response.writeHead(404).end()
    })
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
    const issuer = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
    try {
      await using project = withLogin(issuer)
      const { findings } = await doctor(project, 'node')
      expect(findings).toContainEqual(finding('ok', 'Login was not asked'))
      project.write('.env', `LOGIN=${issuer}\nMAYFLY_SECRET=${SECRET}\n`)
      const { findings: unset } = await doctor(project, 'node', '--online')
      expect(unset).toContainEqual(finding('error', 'LOGIN_ID and LOGIN_SECRET are not set'))
      expect(asked).toBe(0)
      await using whole = withLogin(issuer)
      const { findings: wrong } = await doctor(whole, 'node', '--online')
      expect(wrong).toContainEqual(finding('error', 'Login answers 404 for the metadata'))
      expect(asked).toBe(1)
    } finally {
      http.closeAllConnections()
      http.close()
    }
  })

  test('--url that is no URL → exit code 2', async () => {
    await using project = arrange()
    const { code, stderr } = await new MayflyProcess(['doctor', '--url', 'notes'], project.folder).exited
    expect({ code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('must begin with http'),
    })
  })
})

const BINDING = `[[durable_objects.bindings]]
name = "GRANTS"
class_name = "MayflyGrants"
`
const MIGRATION = `[[migrations]]
tag = "mayfly-grants-1"
new_sqlite_classes = ["MayflyGrants"]
`
const EXPORT = `export { MayflyGrants } from 'mayfly-mcp/cloudflare'`

describe('the Durable Object of connections', { timeout: 180_000 }, () => {
  const store = '(env) => durableObjectGrants(env.GRANTS)'

  test.for<[string, string, string, string | undefined]>([
    ['all of it', BINDING + MIGRATION, EXPORT, undefined],
    ['no binding', MIGRATION, EXPORT, 'no binding has the class MayflyGrants'],
    ['no migration', BINDING, EXPORT, 'no migration of wrangler.toml makes MayflyGrants'],
    ['no export', BINDING + MIGRATION, '', 'the entry does not export the class MayflyGrants'],
    ['no SQLite', BINDING + MIGRATION.replace('sqlite_', ''), EXPORT, 'put it into new_sqlite_classes'],
    ['another Worker’s', `${BINDING}script_name = "other"\n`, '', undefined],
    [
      'another name',
      (BINDING + MIGRATION).replaceAll('MayflyGrants', 'People'),
      `export { MayflyGrants as People } from 'mayfly-mcp/cloudflare'`,
      undefined,
    ],
    [
      'a class of one’s own',
      (BINDING + MIGRATION).replaceAll('MayflyGrants', 'People'),
      `import { MayflyGrants } from 'mayfly-mcp/cloudflare'\nexport class People extends MayflyGrants {}`,
      undefined,
    ],
  ])('%s', async ([, config, more, problem]) => {
    await using project = arrange({ store, more })
    project.write(
      'wrangler.toml',
      `name = "notes"\nmain = "server.ts"\ncompatibility_date = "2026-10-01"\n${config}`,
    )
    const { findings } = await doctor(project, 'cloudflare')
    const told = findings.filter(({ message }) => /durableObjectGrants|in the Durable Object/.test(message))
    expect(told).toEqual([
      problem === undefined ? finding('ok', 'in the Durable Object') : finding('error', problem),
    ])
  })

  test('of events: the lines of the configuration that are missing, and what repeats deliveries', async () => {
    await using project = arrange({})
    const server = (more: string): string => `import { env } from 'cloudflare:workers'
import { MCPServer } from 'mayfly-mcp'
import { durableObjectEvents } from 'mayfly-mcp/cloudflare'
import { extension } from 'mayfly-mcp/extensions'
import { createEvent, events } from 'mayfly-mcp/mcp-events'
${more}
const made = createEvent({ id: 'note.created', description: 'A new note' })
export default new MCPServer({ name: 'notes', version: '1.0.0', log: false, auth: 'host',
  extensions: ['a', 'b'].map((name) => extension({ id: \`com.example/\${name}\`, faultIn: () => 'set KEY' })),
  events: events({ types: { made }, store: durableObjectEvents(env.EVENTS) }) })`
    const wrangler = 'name = "notes"\nmain = "server.ts"\ncompatibility_date = "2026-10-01"\n'
    project.write('server.ts', server(''))
    project.write('wrangler.toml', wrangler)
    const { findings } = await doctor(project, 'cloudflare')
    expect(findings).toEqual(
      expect.arrayContaining([
        finding('error', 'with name = "EVENTS" and class_name = "MayflyEvents"'),
        finding('error', 'com.example/a: set KEY'),
        finding('error', 'com.example/b: set KEY'),
        finding('warning', 'nothing repeats deliveries that failed: pass "runner"'),
      ]),
    )
    project.write('server.ts', server("export { MayflyEvents } from 'mayfly-mcp/cloudflare'"))
    project.write('wrangler.toml', wrangler + (BINDING + MIGRATION).replaceAll('Grants', 'Events'))
    expect((await doctor(project, 'cloudflare')).findings).toContainEqual(
      finding('ok', 'events are in the Durable Object MayflyEvents'),
    )
    const bySender = finding('warning', 'deliver: nodeEventSender() of mayfly-mcp/node-events')
    expect(findings).not.toContainEqual(bySender)
    const elsewhere = await doctor(project, 'vercel')
    expect(elsewhere.findings).toEqual(
      expect.arrayContaining([
        finding('warning', 'add "mayfly": { "cron": "/events" } to package.json'),
        bySender,
      ]),
    )
    project.write(
      'package.json',
      JSON.stringify({ type: 'module', mayfly: { events: 'dynamodb', cron: '/events' } }),
    )
    expect((await doctor(project, 'lambda')).findings).toEqual(
      expect.arrayContaining([
        finding('ok', 'the deployment makes the table of events'),
        finding('ok', 'calls /events, which must be that of createEventEndpoint'),
      ]),
    )
    project.write(
      'server.ts',
      server('').replace('events({', 'events({ deliver: { post: async () => ({ status: 200 }) },'),
    )
    expect((await doctor(project, 'vercel')).findings).not.toContainEqual(bySender)
  })

  test('a Worker with other handlers, and variables of its own → the server in it is examined', async () => {
    await using project = arrange({})
    const secret = 'a-secret-of-operators-of-40-characters-0'
    project.write('.env', `MAYFLY_EVENTS_SECRET=${secret}\n`)
    project.write('wrangler.toml', 'name = "notes"\nmain = "server.ts"\ncompatibility_date = "2026-10-01"\n')
    project.write(
      'server.ts',
      `import { env } from 'cloudflare:workers'
import { MCPServer } from 'mayfly-mcp'
import { cloudflare, durableObjectEvents } from 'mayfly-mcp/cloudflare'
import { createEventAdmin } from 'mayfly-mcp/events-admin'
import { createEvent, events } from 'mayfly-mcp/mcp-events'
export { MayflyEvents } from 'mayfly-mcp/cloudflare'
export const admin = createEventAdmin({ secret: env.MAYFLY_EVENTS_SECRET })
const made = createEvent({ id: 'note.created', description: 'A new note' })
const server = new MCPServer({ name: 'notes', version: '1.0.0', log: false, auth: 'host',
  events: events({ types: { made }, store: durableObjectEvents(env.EVENTS), allowLoopback: true }) })
export default { fetch: cloudflare(server), scheduled: (_event, env) => server.events.run({ env }) }`,
    )
    expect((await doctor(project, 'cloudflare')).findings).toEqual(
      expect.arrayContaining([
        finding('error', 'with name = "EVENTS" and class_name = "MayflyEvents"'),
        finding('warning', 'events has allowLoopback'),
        finding('warning', '"scheduled" needs a cron trigger'),
      ]),
    )
  })

  test('a scope of an event that signIn does not give out, and events that a restart loses', async () => {
    await using project = arrange({
      more: `import { createEvent, createMemoryEvents, events } from 'mayfly-mcp/mcp-events'
const made = createEvent({ id: 'note.created', description: 'A new note', scopes: ['notes:read'] })`,
      http: 'events: events({ types: { made }, store: createMemoryEvents() }),',
    })
    expect((await doctor(project, 'node')).findings).toEqual(
      expect.arrayContaining([
        finding(
          'warning',
          'nobody can use the event note.created: signIn does not give out the scope notes:read',
        ),
        finding('warning', 'subscriptions are kept in memory: a restart or the next deployment loses them'),
      ]),
    )
  })

  test('mayfly deploy refuses a Worker without the binding, before wrangler uploads it', async () => {
    await using project = arrange({ store, more: EXPORT })
    writeWrangler(project)
    const args = ['deploy', '--target', 'cloudflare', '--no-check']
    const { code, stderr } = await new MayflyProcess(args, project.folder).exited
    expect({ code, stderr }).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('no binding has the class'),
    })
    expect(stderr).not.toContain('Uploaded')
  })

  test('without a configuration → an error; a store elsewhere → nothing', async () => {
    await using project = arrange({ store })
    expect((await doctor(project, 'cloudflare')).findings).toContainEqual(finding('error', 'no binding has'))
    await using other = arrange()
    const { findings } = await doctor(other, 'cloudflare')
    expect(findings.some(({ message }) => message.includes('Durable Object'))).toBe(false)
  })

  test('a stage has bindings of its own', async () => {
    await using project = arrange({ store, more: EXPORT })
    const config = `name = "notes"\nmain = "server.ts"\n${BINDING}${MIGRATION}\n[env.staging]\n`
    project.write('wrangler.toml', config)
    const { findings } = await doctor(project, 'cloudflare', '--stage', 'staging')
    expect(findings).toContainEqual(finding('error', 'the environment staging of wrangler.toml'))
    project.write('wrangler.toml', config + BINDING.replace('[[', '[[env.staging.'))
    const { findings: bound } = await doctor(project, 'cloudflare', '--stage', 'staging')
    expect(bound).toContainEqual(finding('ok', 'in the Durable Object MayflyGrants'))
  })
})
