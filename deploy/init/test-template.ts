/** The test of the server that `mayfly init` writes. */
import type { ServerChoice } from './server-template.ts'

const TOKEN = 'a-token-of-the-tests'

/** Tests over HTTP, as clients connect, so it works for every kind of server. */
export function testSource({ templates }: Pick<ServerChoice, 'templates'>): string {
  const [hasAuth, isAsking, hasTasks] = [
    templates.has('auth'),
    templates.has('asking'),
    templates.has('tasks'),
  ]
  const isOwn = !templates.has('fromSdk')
  const hasApp = templates.has('hono') && !hasTasks
  const authorized = hasAuth ? ', authorized' : ''
  return `${hasTasks ? "import { memoryTasks } from 'mayfly-mcp/tasks'\n" : ''}import { expect, it } from 'vitest'
${imports(isOwn && hasApp, hasApp, hasTasks)}${environment(hasAuth, isAsking)}
async function post(message: object, headers: Record<string, string> = {}): Promise<Response> {
  const request = new Request('http://localhost/mcp', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }),
  })
  return ${hasApp ? 'app' : 'server'}.fetch(request${hasAuth || isAsking ? ', env' : ''})
}
${isOwn ? OWN : ''}
it('answers a client over HTTP', async () => {
  const params = { name: 'roll_dice', arguments: { count: 30 } }
  const response = await post({ method: 'tools/call', params }${authorized})

  // Too many dice: the model is told which field is wrong, and can correct itself.
  expect(await response.json()).toMatchObject({ result: { isError: true } })
})
${hasAuth ? REFUSED : ''}${isAsking ? asks(authorized) : ''}${hasTasks ? startsTask(authorized) : ''}`
}

function imports(hasServer: boolean, hasApp: boolean, hasTasks: boolean): string {
  if (hasTasks)
    return "import { createServer } from '../src/mcp.ts'\n\nconst server = createServer(memoryTasks())\n"
  const app = `import ${hasApp ? 'app' : 'server'} from '../src/server.ts'\n`
  return hasServer ? `import server from '../src/mcp.ts'\n${app}` : app
}

function environment(hasAuth: boolean, isAsking: boolean): string {
  const variables = [
    ...(hasAuth ? [`API_TOKEN: '${TOKEN}'`] : []),
    ...(isAsking ? ["MAYFLY_SECRET: 'a-secret-of-the-tests-0123456789'"] : []),
  ]
  if (variables.length === 0) return ''
  return `
const env = { ${variables.join(', ')} }
${hasAuth ? `const authorized = { authorization: 'Bearer ${TOKEN}' }\n` : ''}`
}

const OWN = `
it('rolls as many dice as it is asked to', async () => {
  const result = await server.executeTool('roll_dice', { count: 3, sides: 6 })

  expect(result).toMatchObject({ total: expect.any(Number) })
  expect((result as { rolls: number[] }).rolls).toHaveLength(3)
})
`

const REFUSED = `
it('refuses a client without the token', async () => {
  expect((await post({ method: 'tools/list' })).status).toBe(401)
})
`

const asks = (authorized: string): string => `
it('asks the user for a guess', async () => {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
  }
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'play' }
  const response = await post(
    { method: 'tools/call', params: { name: 'play', arguments: {}, _meta } },
    ${authorized === '' ? 'headers' : '{ ...headers, ...authorized }'},
  )

  expect(await response.json()).toMatchObject({ result: { resultType: 'input_required' } })
})
`

const startsTask = (authorized: string): string => `
it('plays a tournament as a task', async () => {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {
      elicitation: { form: {} },
      extensions: { 'io.modelcontextprotocol/tasks': {} },
    },
  }
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'tournament' }
  const response = await post(
    { method: 'tools/call', params: { name: 'tournament', arguments: { rounds: 1 }, _meta } },
    ${authorized === '' ? 'headers' : '{ ...headers, ...authorized }'},
  )

  expect(await response.json()).toMatchObject({ result: { resultType: 'task', status: 'working' } })
})
`
