/** Checked by the compiler alone: misspelt options are refused, also where a parameter is generic. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { lambda } from '../../adapters/lambda.ts'
import { createSessions, nodeListener } from '../../adapters/node.ts'
import { redisBus } from '../../adapters/redis.ts'
import { bearer, introspection, jwt, staticTokens } from '../../src/auth.ts'
import { MCPClient } from '../../src/client.ts'
import { fromNode } from '../../src/from-node.ts'
import { createPrompt, createResource, createTool, MCPServer, type RequestServer } from '../../src/index.ts'
import { createTool as createMastraTool, MCPServer as MastraServer } from '../../src/mastra.ts'
import { createVectorQueryTool, type SearchableStore } from '../../src/retrieval.ts'
import { fromSdk, type SdkServerFactory } from '../../src/sdk.ts'
import { createTool as createSdkTool } from '../../src/sdk-context.ts'
import { createMemoryTasks } from '../../src/tasks.ts'

const execute = () => ''
const get = () => ''
const read = () => ''
const base = { name: 'Shop', version: '1.0.0' }
const issuer = 'https://login.example'
const audience = 'https://shop.example/mcp'
const token = 'a-token-of-thirty-two-characters'
declare const factory: SdkServerFactory
declare const vectorStore: SearchableStore
declare const request: RequestServer
declare const server: MCPServer

// @ts-expect-error scopes
staticTokens([{ token }], { requiredScopes: ['shop'] })
// @ts-expect-error scopes
staticTokens([{ token, scope: ['shop'] }])
// @ts-expect-error scopes
bearer(() => undefined, { requiredScopes: ['shop'] })
// @ts-expect-error scopes
jwt({ issuer, audience, requiredScopes: ['shop'] })
// @ts-expect-error scopes
introspection({ issuer, audience, endpoint: issuer, clientId: 'a', clientSecret: 'b', requiredScopes: [] })
// @ts-expect-error tools
bearer(() => undefined, { anonymous: { tool: ['a'] } })

// @ts-expect-error scopes
createTool({ id: 'a', scope: ['shop'], execute })
// @ts-expect-error scopes
createMastraTool({ id: 'a', scope: ['shop'], execute })
// @ts-expect-error scopes
createSdkTool({ id: 'a', scope: ['shop'], execute })
// @ts-expect-error annotations
createTool({ id: 'a', mcp: { anotations: {} }, execute })
// @ts-expect-error destructiveHint
createTool({ id: 'a', mcp: { annotations: { destructive: true } }, execute })
// @ts-expect-error scopes
createPrompt({ scope: ['shop'], get })
// @ts-expect-error scopes
createResource({ uri: 'a://b', scope: ['shop'], read })
// @ts-expect-error scopes
createResource({ uriTemplate: 'a://{b}', scope: ['shop'], read })

// @ts-expect-error auth
new MCPServer({ ...base, authentication: undefined })
// @ts-expect-error allowedHosts
new MCPServer({ ...base, http: { hosts: [] } })
// @ts-expect-error scope
new MCPServer({ ...base, cache: { scopes: 'private' } })
// @ts-expect-error scopes
new MCPServer({ ...base, tools: { a: { id: 'a', scope: ['shop'], execute } } })
// @ts-expect-error scopes
new MCPServer({ ...base, prompts: { a: { scope: ['shop'], get } } })
// @ts-expect-error scopes
new MCPServer({ ...base, resources: { a: { uri: 'a://b', scope: ['shop'], read } } })
// @ts-expect-error scopes
new MCPServer({ ...base, resources: [{ uri: 'a://b', scope: ['shop'], read }] })
// @ts-expect-error scopes
new MastraServer({ ...base, tools: { a: { id: 'a', scope: ['shop'], execute } } })

// @ts-expect-error scopes
server.registerTool('a', { scope: ['shop'] }, execute)
// @ts-expect-error scopes
server.registerPrompt('a', { scope: ['shop'], get })
// @ts-expect-error scopes
server.registerResource({ uri: 'a://b', scope: ['shop'], read })
// @ts-expect-error scopes
request.registerTool('a', { scope: ['shop'] }, execute)
// @ts-expect-error scopes
request.tool('a').update({ scope: ['shop'] })

// @ts-expect-error scopes
fromSdk(factory, { scope: {} })
// @ts-expect-error tools
fromSdk(factory, { scopes: { tool: {} } })
// @ts-expect-error scopes
fromNode((_req: IncomingMessage, _res: ServerResponse) => {}, { scope: {} })

// @ts-expect-error filter
createVectorQueryTool({ vectorStore, model: () => [], filters: { tenant: 'a' } })
// @ts-expect-error maxOpenTasks
createMemoryTasks({ maxTasks: 1 })
// @ts-expect-error token
new MCPClient({ servers: { a: { url: 'https://shop.example/mcp', bearer: 't' } } })
// @ts-expect-error env
lambda(server, { environment: {} })
// @ts-expect-error hostname
nodeListener(server, { host: '127.0.0.1' })
// @ts-expect-error maxSessions
createSessions(server, { sessions: 1 })
// @ts-expect-error prefix
redisBus({ publisher: { publish() {} }, subscriber: {} as never, prefx: 'a' })

// Tools as other frameworks write them.
const listed = createTool({ id: 'listed', execute: () => '' })
new MCPServer({
  name: 'a',
  version: '1',
  // @ts-expect-error a list has no names
  tools: [listed],
})
// @ts-expect-error hints belong under `mcp`
createTool({ id: 'a', annotations: { readOnlyHint: true }, execute: () => '' })
new MCPServer({
  name: 'a',
  version: '1',
  // @ts-expect-error hints belong under `mcp`
  tools: { a: { annotations: { readOnlyHint: true }, execute: () => '' } },
})
// @ts-expect-error its name is the key in `tools`
createTool({ name: 'a', execute: () => '' })
// @ts-expect-error it is called `execute`
createTool({ id: 'a', handler: () => '' })
