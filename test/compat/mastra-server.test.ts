/** The examples of Mastra's documentation of `createTool` and `MCPServer`, with only the import changed. */
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { toFetchResponse, toReqRes } from 'fetch-to-node'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import {
  createOAuthMiddleware,
  createStaticTokenValidator,
  createTool,
  MCPServer,
  type MCPServerPrompts,
  type MCPServerResourceContent,
  type MCPServerResources,
} from '../../adapters/node-mastra.ts'
import type { Prompt, Resource, ResourceTemplate } from '../../src/index.ts'
import { modernRequest } from '../unit/_client.ts'
import { call, list, request } from './_call.ts'

const weatherTool = createTool({
  id: 'weather-tool',
  description: 'Get the current weather for a location',
  inputSchema: z.object({
    location: z.string().describe('City name or coordinates'),
  }),
  outputSchema: z.object({
    location: z.string(),
    temperatureCelsius: z.number(),
    conditions: z.string(),
  }),
  mcp: {
    annotations: {
      title: 'Weather Lookup',
      readOnlyHint: true,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: true,
    },
    _meta: {
      version: '1.0.0',
      category: 'weather',
    },
  },
  execute: async ({ location }) => {
    return { location, temperatureCelsius: 21, conditions: 'sunny' }
  },
})
const WEATHER = { location: 'Bern', temperatureCelsius: 21, conditions: 'sunny' }

afterEach(() => vi.restoreAllMocks())

describe('createTool', () => {
  it('a tool with schemas and annotations', async () => {
    const server = new MCPServer({ name: 'My Server', version: '1.0.0', tools: { weatherTool }, log: false })
    expect((await list(server, 'tools'))[0]).toMatchObject({
      name: 'weatherTool',
      annotations: { title: 'Weather Lookup' },
      _meta: { category: 'weather' },
    })
    expect((await call(server, 'weatherTool', { location: 'Bern' })).structuredContent).toEqual(WEATHER)
  })

  it('is called without a server', async () => {
    const result = await weatherTool.execute(
      { location: 'Bern' },
      { requestContext: new Map([['tier', 'gold']]) },
    )
    expect(result.conditions).toBe('sunny')
  })

  it('lifecycle hooks', async () => {
    const log = vi.spyOn(console, 'log').mockImplementation(() => undefined)
    const hooked = createTool({
      id: 'weather-tool',
      description: 'Get the current weather for a location',
      inputSchema: z.object({
        location: z.string(),
      }),
      outputSchema: z.object({
        location: z.string(),
        temperatureCelsius: z.number(),
        conditions: z.string(),
      }),
      execute: async ({ location }) => {
        return {
          location,
          temperatureCelsius: 21,
          conditions: 'sunny',
        }
      },
      onInputStart: ({ toolCallId }) => {
        console.log(`Tool call ${toolCallId} input started`)
      },
      onInputDelta: ({ inputTextDelta, toolCallId }) => {
        console.log(`Tool call ${toolCallId} received input chunk: ${inputTextDelta}`)
      },
      onInputAvailable: ({ input, toolCallId }) => {
        console.log(`Tool call ${toolCallId} received location: ${input.location}`)
      },
      onOutput: ({ output, toolName, toolCallId }) => {
        console.log(`Tool call ${toolCallId} to ${toolName} completed with conditions: ${output.conditions}`)
      },
    })
    const server = new MCPServer({ name: 'My Server', version: '1.0.0', tools: { hooked }, log: false })
    await server.executeTool('hooked', { location: 'Bern' }, { toolCallId: 'call-1' })
    expect(log.mock.calls.flat()).toEqual([
      'Tool call call-1 received location: Bern',
      'Tool call call-1 to hooked completed with conditions: sunny',
    ])
  })

  it('the context of both call patterns', async () => {
    const fetchUserData = createTool({
      id: 'fetchUserData',
      description: 'Fetches user data using authentication from MCP context',
      inputSchema: z.object({
        userId: z.string().describe('The ID of the user to fetch'),
      }),
      execute: async (inputData, context) => {
        const mcpExtra = context?.mcp?.extra || context?.requestContext?.get('mcp.extra')
        const authInfo = mcpExtra?.authInfo
        if (!authInfo?.token) {
          throw new Error('Authentication required')
        }
        return { userId: inputData.userId, aborted: context.abortSignal.aborted }
      },
    })
    const server = new MCPServer({
      name: 'Users',
      version: '1.0.0',
      tools: { fetchUserData },
      log: false,
      onError: () => {},
    })
    expect((await call(server, 'fetchUserData', { userId: '7' })).text).toBe('Authentication required')
    const auth = { token: 't', clientId: 'c', scopes: [] }
    expect(await fetchUserData.execute({ userId: '7' }, { auth })).toEqual({ userId: '7', aborted: false })
  })

  it.each(['requireApproval', 'requestContextSchema', 'suspendSchema', 'resumeSchema'])(
    '%s, which would be missed → TypeError that names it',
    (option) => {
      const config = { id: 'tool', execute: () => '', [option]: {} }
      expect(() => createTool(config)).toThrow(`"${option}"`)
    },
  )
})

describe('MCPServer', () => {
  const myAgent = {
    name: 'MyExampleAgent',
    getDescription: () => 'A generalist to help with basic questions.',
    generate: async (message: string) => ({ text: `You asked: ${message}` }),
  }
  const dataProcessingWorkflow = {
    id: 'data',
    description: 'Processes data',
    inputSchema: z.object({ rows: z.number() }),
    createRun: async () => ({
      start: async ({ inputData }: { inputData?: unknown }) => ({ status: 'success', result: inputData }),
    }),
  }

  it('tools, agents and workflows', async () => {
    const server = new MCPServer({
      id: 'my-custom-server',
      name: 'My Custom Server',
      version: '1.0.0',
      description: 'A server that provides weather data and agent capabilities',
      instructions:
        'Use the available tools to help users with weather information and data processing tasks.',
      protocolVersion: '2026-07-28',
      tools: { weatherTool },
      agents: { myAgent },
      workflows: { dataProcessingWorkflow },
      log: false,
    })
    expect((await list(server, 'tools')).map(({ name }) => name)).toEqual([
      'weatherTool',
      'ask_myAgent',
      'run_dataProcessingWorkflow',
    ])
    expect((await call(server, 'ask_myAgent', { message: 'Hi' })).text).toBe('You asked: Hi')
    expect(server.getServerDetail().version_detail).toEqual({
      version: '1.0.0',
      release_date: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      is_latest: true,
    })
    expect(server.getToolInfo('weatherTool')?.toolType).toBe('tool')
  })

  it('resources by callbacks', async () => {
    const myResources: Resource[] = [
      { uri: 'file://data/123.txt', name: 'Data File', mimeType: 'text/plain' },
    ]
    const myResourceContents: Record<string, MCPServerResourceContent> = {
      'file://data.txt/123': { text: 'This is the content of the data file.' },
    }
    const myResourceTemplates: ResourceTemplate[] = [
      {
        uriTemplate: 'file://data/{id}',
        name: 'Data File',
        description: 'A file containing data.',
        mimeType: 'text/plain',
      },
    ]
    const myResourceHandlers: MCPServerResources = {
      listResources: async () => myResources,
      getResourceContent: async ({ uri }) => {
        if (myResourceContents[uri]) {
          return myResourceContents[uri]
        }
        throw new Error(`Resource content not found for ${uri}`)
      },
      resourceTemplates: async () => myResourceTemplates,
    }
    const server = new MCPServer({
      id: 'resourceful-server',
      name: 'Resourceful Server',
      version: '1.0.0',
      tools: {},
      resources: myResourceHandlers,
      log: false,
      onError: () => {},
    })
    expect(await list(server, 'resources')).toEqual(myResources)
    const read = await request(server, 'resources/read', { uri: 'file://data.txt/123' })
    expect(read.result?.contents).toMatchObject([{ text: 'This is the content of the data file.' }])
    myResourceContents['file://data/123.txt'] = { text: 'Listed' }
    const listed = await request(server, 'resources/read', { uri: 'file://data/123.txt' })
    expect(listed.result?.contents).toEqual([
      { uri: 'file://data/123.txt', text: 'Listed', mimeType: 'text/plain' },
    ])
    expect((await request(server, 'resources/read', { uri: 'file://no' })).error).toMatchObject({
      code: -32603,
      message: 'Internal error',
    })
    await server.resources.notifyUpdated({ uri: 'file://data.txt' })
    await server.resources.notifyListChanged()
  })

  it('prompts of several versions', async () => {
    const prompts: Prompt[] = [
      {
        name: 'analyze-code',
        description: 'Analyze code for improvements',
        version: 'v1',
      },
      {
        name: 'analyze-code',
        description: 'Analyze code for improvements (new logic)',
        version: 'v2',
      },
    ]
    const myPromptHandlers: MCPServerPrompts = {
      listPrompts: async () => prompts,
      getPromptMessages: async ({ name, version, args }) => {
        if (name === 'analyze-code') {
          if (version === 'v2') {
            const prompt = prompts.find((p) => p.name === name && p.version === 'v2')
            if (!prompt) throw new Error('Prompt version not found')
            return {
              prompt,
              messages: [
                {
                  role: 'user',
                  content: {
                    type: 'text',
                    text: `Analyze this code with the new logic: ${args.code}`,
                  },
                },
              ],
            }
          }
          const prompt = prompts.find((p) => p.name === name && p.version === 'v1')
          if (!prompt) throw new Error('Prompt version not found')
          return {
            prompt,
            messages: [
              {
                role: 'user',
                content: { type: 'text', text: `Analyze this code: ${args.code}` },
              },
            ],
          }
        }
        throw new Error('Prompt not found')
      },
    }
    const server = new MCPServer({
      name: 'Promptful Server',
      version: '1.0.0',
      prompts: myPromptHandlers,
      log: false,
    })
    const get = async (version?: string) => {
      const params = { name: 'analyze-code', arguments: { code: 'a+b' }, ...(version && { version }) }
      return (await request(server, 'prompts/get', params)).result
    }
    expect((await list(server, 'prompts')).map((prompt) => prompt._meta)).toEqual([
      { version: 'v1' },
      { version: 'v2' },
    ])
    expect(await get()).toMatchObject({ messages: [{ content: { text: 'Analyze this code: a+b' } }] })
    expect(await get('v2')).toMatchObject({
      description: 'Analyze code for improvements (new logic)',
      messages: [{ content: { text: 'Analyze this code with the new logic: a+b' } }],
    })
    expect(await get('v2')).not.toHaveProperty('prompt')
    // As in Mastra, what is not listed does not reach the callback.
    expect(await request(server, 'prompts/get', { name: 'another' })).toMatchObject({
      error: { code: -32602, message: 'Unknown prompt: another' },
    })
    expect(server.id).toBe('promptful-server')
    await server.prompts.notifyListChanged()
  })

  it('a tool that asks', async () => {
    vi.spyOn(console, 'log').mockImplementation(() => undefined)
    const server = new MCPServer({
      id: 'interactive-server',
      name: 'Interactive Server',
      version: '1.0.0',
      log: false,
      tools: {
        collectContactInfo: createTool({
          id: 'collectContactInfo',
          description: 'Collects user contact information through elicitation',
          inputSchema: z.object({
            reason: z.string().optional().describe('Reason for collecting contact info'),
          }),
          execute: async (inputData, context) => {
            const { reason } = inputData
            console.log('Request from session:', context.mcp?.extra?.sessionId)
            try {
              const result = await context.mcp.elicitation.sendRequest({
                message: reason
                  ? `Please provide your contact information. ${reason}`
                  : 'Please provide your contact information',
                requestedSchema: {
                  type: 'object',
                  properties: {
                    name: { type: 'string', title: 'Full Name', description: 'Your full name' },
                    email: {
                      type: 'string',
                      title: 'Email Address',
                      description: 'Your email address',
                      format: 'email',
                    },
                    phone: {
                      type: 'string',
                      title: 'Phone Number',
                      description: 'Your phone number (optional)',
                    },
                  },
                  required: ['name', 'email'],
                },
              })
              if (result.action === 'accept') {
                return `Contact information collected: ${JSON.stringify(result.content, null, 2)}`
              } else if (result.action === 'decline') {
                return 'Contact information collection was declined by the user.'
              } else {
                return 'Contact information collection was cancelled by the user.'
              }
            } catch (error) {
              return `Error collecting contact information: ${error}`
            }
          },
        }),
      },
    })
    const ask = (answer: object) => call(server, 'collectContactInfo', {}, [answer])
    expect((await ask({ action: 'accept', content: { name: 'Ada', email: 'a@b.c' } })).text).toContain(
      '"Ada"',
    )
    expect((await ask({ action: 'decline' })).text).toContain('declined')
  })

  it('progress and logging from a tool', async () => {
    const work = createTool({
      id: 'work',
      inputSchema: z.object({ items: z.array(z.object({ name: z.string() })) }),
      execute: async ({ items }, context) => {
        await context.mcp.log('debug', 'Starting', { count: items.length })
        for (const [index, item] of items.entries()) {
          await context.mcp.progress({
            progress: index + 1,
            total: items.length,
            message: `Processed ${item.name}`,
          })
        }
        return { done: true }
      },
    })
    const server = new MCPServer({ name: 'Work', version: '1.0.0', tools: { work }, log: false })
    expect((await call(server, 'work', { items: [{ name: 'a' }] })).structuredContent).toEqual({ done: true })
  })

  it.each(['fga', 'mapAuthInfoToUser', 'appResources', 'cacheHints', 'requestState'])(
    '%s, which would be missed → TypeError that names it',
    (option) => {
      const config = { name: 'X', version: '1.0.0', [option]: {} }
      expect(() => new MCPServer(config)).toThrow(`MCPServer has no option "${option}"`)
    },
  )
})

describe('a Node process', () => {
  const tools = { weatherTool }
  const BODY = { name: 'weatherTool', arguments: { location: 'Bern' } }

  async function listen(listener: http.RequestListener): Promise<{ url: string; close: () => void }> {
    const httpServer = http.createServer(listener)
    await new Promise<void>((resolve) => httpServer.listen(0, '127.0.0.1', resolve))
    const { port } = httpServer.address() as AddressInfo
    return { url: `http://127.0.0.1:${port}/mcp`, close: () => void httpServer.close() }
  }

  const post = (url: string, headers: Record<string, string> = {}) =>
    fetch(modernRequest('tools/call', BODY, { url, headers }))

  it('server.startHTTP', async () => {
    const server = new MCPServer({ id: 'my-server', name: 'My Server', version: '1.0.0', tools, log: false })
    const { url, close } = await listen(async (req, res) => {
      await server.startHTTP({
        url: new URL(req.url || '', `http://localhost:1234`),
        httpPath: `/mcp`,
        req,
        res,
        options: {
          sessionIdGenerator: () => crypto.randomUUID(),
        },
      })
    })
    expect(await (await post(url)).json()).toMatchObject({ result: { structuredContent: WEATHER } })
    await server.close()
    close()
  })

  it('server.startHTTP with serverless over fetch-to-node', async () => {
    const server = new MCPServer({
      id: 'my-serverless-mcp',
      name: 'My Serverless MCP',
      version: '1.0.0',
      tools,
      log: false,
    })
    const serve = async (req: Request): Promise<Response> => {
      const url = new URL(req.url)
      if (url.pathname === '/mcp') {
        const { req: nodeReq, res: nodeRes } = toReqRes(req)
        await server.startHTTP({
          url,
          httpPath: '/mcp',
          req: nodeReq,
          res: nodeRes,
          options: {
            serverless: true,
            serverlessStreaming: true,
          },
        })
        return toFetchResponse(nodeRes)
      }
      return new Response('Not found', { status: 404 })
    }
    const response = await serve(modernRequest('tools/call', BODY))
    expect(await response.json()).toMatchObject({ result: { structuredContent: WEATHER } })
    expect((await serve(new Request('https://mcp.example/other'))).status).toBe(404)
  })

  it('an option that would be missed → TypeError that says where it is written', async () => {
    const server = new MCPServer({ name: 'X', version: '1.0.0', tools, log: false })
    const { req, res } = toReqRes(new Request('https://mcp.example/mcp'))
    const options: object = { allowedHosts: ['mcp.example'] }
    await expect(
      server.startHTTP({
        url: new URL('https://mcp.example/mcp'),
        httpPath: '/mcp',
        req,
        res,
        options,
      }),
    ).rejects.toThrow(
      'startHTTP has no option "allowedHosts": write http: { allowedHosts } in the MCPServer.',
    )
  })

  it('createOAuthMiddleware', async () => {
    const mcpServer = new MCPServer({
      id: 'protected-server',
      name: 'Protected MCP Server',
      version: '1.0.0',
      tools,
      log: false,
    })
    const oauthMiddleware = createOAuthMiddleware({
      oauth: {
        resource: 'https://mcp.example.com/mcp',
        authorizationServers: ['https://auth.example.com'],
        scopesSupported: ['mcp:read', 'mcp:write'],
        resourceName: 'My Protected MCP Server',
        validateToken: createStaticTokenValidator(['allowed-token-01']),
      },
      mcpPath: '/mcp',
    })
    const { url, close } = await listen(async (req, res) => {
      const url = new URL(req.url || '', 'https://mcp.example.com')
      const result = await oauthMiddleware(req, res, url)
      if (!result.proceed) return
      await mcpServer.startHTTP({ url, httpPath: '/mcp', req, res })
    })
    const refused = await post(url)
    expect(refused.status).toBe(401)
    const metadataUrl = 'https://mcp.example.com/.well-known/oauth-protected-resource/mcp'
    expect(refused.headers.get('www-authenticate')).toContain(`resource_metadata="${metadataUrl}"`)
    expect((await post(url, { authorization: 'Bearer another-token-01' })).status).toBe(401)
    const allowed = await post(url, { authorization: 'Bearer allowed-token-01' })
    expect(await allowed.json()).toMatchObject({ result: { structuredContent: WEATHER } })
    for (const path of ['', '/mcp']) {
      const metadata = await fetch(new URL(`/.well-known/oauth-protected-resource${path}`, url))
      expect(await metadata.json()).toEqual({
        resource: 'https://mcp.example.com/mcp',
        authorization_servers: ['https://auth.example.com'],
        bearer_methods_supported: ['header'],
        scopes_supported: ['mcp:read', 'mcp:write'],
        resource_name: 'My Protected MCP Server',
      })
    }
    await mcpServer.close()
    close()
  })
})
