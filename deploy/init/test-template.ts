/** The test of the server that `mayfly init` writes. */
import { tellsNote } from './events-template.ts'
import type { ServerChoice } from './server-template.ts'

const TOKEN = 'a-token-of-the-tests'

/** Uses the official client, so it works for every kind of server. */
export function testSource({ templates }: Pick<ServerChoice, 'templates'>): string {
  const [hasToken, hasSignIn, isAsking, hasTasks, hasEvents] = [
    templates.has('auth'),
    templates.has('sign-in'),
    templates.has('asking'),
    templates.has('tasks'),
    templates.has('events'),
  ]
  const hasAuth = hasToken || hasSignIn
  const hasEnv = hasToken || isAsking
  const hasApp = templates.has('hono') && !hasTasks && !hasEvents
  const server = hasApp ? 'app' : 'server'
  const options = [...(hasEnv ? ['env'] : []), ...(hasAuth ? ['auth'] : [])]
  const connect = (...more: string[]): string => {
    const all = [...options, ...more]
    return `await using client = await connect(${server}${all.length === 0 ? '' : `, { ${all.join(', ')} }`})`
  }
  return `${imports(hasApp, hasTasks, hasEvents, isAsking)}${hasSignIn ? SIGNED_IN : ''}${environment(hasToken, isAsking)}
it.each(['modern', 'legacy'] as const)('rolls as many dice as a %s client asks for', async (era) => {
  ${connect('era')}

  const { structuredContent } = await client.callTool({ name: 'roll_dice', arguments: { count: 3, sides: 6 } })

  expect(structuredContent).toMatchObject({ total: expect.any(Number) })
  expect((structuredContent as { rolls: number[] }).rolls).toHaveLength(3)
})

it('tells the model what is wrong with an argument', async () => {
  ${connect()}

  const { isError, content } = await client.callTool({ name: 'roll_dice', arguments: { count: 30 } })

  expect(isError).toBe(true)
  expect(JSON.stringify(content)).toContain('count')
})
${hasAuth ? refused(server, hasEnv) : ''}${hasSignIn && !templates.has('fromSdk') ? knows(connect()) : ''}${isAsking ? asks(connect('answers')) : ''}${hasTasks && !hasSignIn ? startsTask(hasToken, hasEnv) : ''}${hasEvents && !hasSignIn ? tellsNote({ hasToken, auth: hasEnv ? ', env' : '' }) : ''}`
}

function imports(hasApp: boolean, hasTasks: boolean, hasEvents: boolean, isAsking: boolean): string {
  const testing = isAsking ? 'accept, connect' : 'connect'
  const given = hasTasks ? 'createMemoryTasks()' : hasEvents ? '{ store: createMemoryEvents() }' : undefined
  const server = given
    ? `import { createServer } from '../src/mcp.ts'\n\nconst server = createServer(${given})\n`
    : `import ${hasApp ? 'app' : 'server'} from '../src/server.ts'\n`
  return `${hasEvents ? "import { createMemoryEvents } from 'mayfly-mcp/mcp-events'\n" : ''}${hasTasks ? "import { createMemoryTasks } from 'mayfly-mcp/tasks'\n" : ''}import { ${testing} } from 'mayfly-mcp/testing'
import { expect, it } from 'vitest'
${server}`
}

function environment(hasAuth: boolean, isAsking: boolean): string {
  const variables = [
    ...(hasAuth ? ['API_TOKEN: auth'] : []),
    ...(isAsking ? ["MAYFLY_SECRET: 'a-secret-of-the-tests-0123456789'"] : []),
  ]
  if (variables.length === 0) return ''
  return `
${hasAuth ? `const auth = '${TOKEN}'\n` : ''}const env = { ${variables.join(', ')} }
`
}

/** A caller as sign-in would tell it. */
const SIGNED_IN = `
const auth = { token: '${TOKEN}', clientId: 'a-client', scopes: ['dice'], extra: { sub: '1', name: 'Ada' } }
`

const knows = (connecting: string): string => `
it('knows who has signed in', async () => {
  ${connecting}

  const { content } = await client.callTool({ name: 'who_am_i' })

  expect(content).toMatchObject([{ text: 'You are Ada' }])
})
`

const refused = (server: string, hasEnv: boolean): string => `
it('refuses a client without the token', async () => {
  await expect(connect(${server}${hasEnv ? ', { env }' : ''})).rejects.toThrow()
})
`

const asks = (connecting: string): string => `
it('asks the user for a guess, and then for a bet', async () => {
  const answers = [accept({ number: 3 }), accept({ points: 5 })]
  ${connecting}

  const { content } = await client.callTool({ name: 'play' })

  expect(JSON.stringify(content)).toMatch(/you (win|lose) 5 points/)
})
`

/** A plain request, since the official client does not support tasks. */
const startsTask = (hasAuth: boolean, hasEnv: boolean): string => `
it('plays a tournament as a task', async () => {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {
      elicitation: { form: {} },
      extensions: { 'io.modelcontextprotocol/tasks': {} },
    },
  }
  const request = new Request('http://localhost/mcp', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'tournament',${hasAuth ? "\n      authorization: 'Bearer ' + auth," : ''}
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'tournament', arguments: { rounds: 1 }, _meta },
    }),
  })
  const response = await server.fetch(request${hasEnv ? ', env' : ''})

  expect(await response.json()).toMatchObject({ result: { resultType: 'task', status: 'working' } })
})
`
