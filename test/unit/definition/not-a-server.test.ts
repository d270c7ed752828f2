/** What the command line says of a default export that is not a server: what it is, and what to write. */
import { createServer } from 'node:http'
import { McpServer as McpServer1 } from '@modelcontextprotocol/sdk/server/mcp.js'
import { McpServer, Server } from '@modelcontextprotocol/server'
import express from 'express'
import { expect, test } from 'vitest'
import { whatToWrite } from '../../../deploy/project/not-a-server.ts'
import { createTool, MCPServer } from '../../../src/index.ts'

const INFO = { name: 'shop', version: '1.0.0' }

/** A framework's own package would be one more to install. */
const method = (): void => {}

test.each<[name: string, exported: unknown, words: string[]]>([
  ['a promise', Promise.resolve(new MCPServer(INFO)), ['it is a promise', 'await']],
  ['a class', class Shop extends MCPServer {}, ['it is a class', 'export default new']],
  ['a function', () => new MCPServer(INFO), ['it is a function', 'export what it returns', 'fromSdk(']],
  ['a Node handler', (_req: unknown, _res: unknown) => {}, ['it is a function', 'fromNode(handler)']],
  ['an app of Express', express(), ['app of Express', 'fromNode(app,', 'mayfly-mcp/from-node']],
  ['an app of Koa', { callback: method, listen: method }, ['it is Koa', 'fromNode(app.callback(),']],
  ['an app of Fastify', { routing: method, listen: method }, ['it is Fastify', 'app.routing(req, res)']],
  ['a Node server', createServer(), ['it is a Node server', 'fromNode(']],
  ['McpServer of SDK v1', new McpServer1(INFO), ['official SDK', 'fromSdk(() => createServer())']],
  ['McpServer of SDK v2', new McpServer(INFO), ['official SDK', 'mayfly-mcp/sdk']],
  ['Server of SDK v2', new Server(INFO), ['official SDK', 'fromSdk(']],
  [
    'a tool',
    createTool({ id: 'a', description: 'A', execute: () => 'a' }),
    ['it is a tool', 'new MCPServer({ name, version, tools:'],
  ],
  ['an object', { name: 'a' }, ['it is an object', 'new MCPServer({']],
  ['a list', [], ['it is a list']],
  ['undefined', undefined, ['it is undefined']],
  ['null', null, ['it is null']],
  ['a string', 'server', ['it is a string']],
  ['a revoked proxy', revoked(), ['it is a']],
])('%s', (_name, exported, words) => {
  const told = whatToWrite(exported)
  for (const word of words) expect(told).toContain(word)
  expect(told).toMatch(/^it is [^\n]{10,300}$/)
})

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}
