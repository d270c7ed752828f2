/**
 * What the two servers under comparison offer, written once: schemas, texts and behaviour. `mayfly-server.ts` and
 * `sdk-server.ts` each say it in their own API.
 */
import type { CallToolResult } from '@modelcontextprotocol/server'
import * as z from 'zod'
import type { LogLevel, PromptMessage, ToolAnnotations } from '../../src/index.ts'

/** The notifications a tool may send, under neither library's name. */
export interface Reporter {
  log(level: LogLevel, data: unknown): void | Promise<void>
  progress(progress: number, total: number): void | Promise<void>
}

export interface FixtureTool {
  readonly name: string
  readonly title?: string
  readonly description?: string
  readonly input?: z.ZodObject
  readonly output?: z.ZodType
  readonly annotations?: ToolAnnotations
  readonly _meta?: Record<string, unknown>
  readonly icons?: { src: string; mimeType: string; sizes: string[] }[]
  call(args: Record<string, unknown>, report: Reporter): CallToolResult | Promise<CallToolResult>
}

export const SERVER_INFO = { name: 'Differential', version: '1.2.3', title: 'Differential fixture' }
export const INSTRUCTIONS = 'Ask for what you need.'

const text = (value: string): CallToolResult => ({ content: [{ type: 'text', text: value }] })

/** One transparent pixel. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='

export const TOOLS: readonly FixtureTool[] = [
  {
    name: 'echo',
    title: 'Echo',
    description: 'Says what it is told',
    input: z.object({ text: z.string().describe('What to say') }),
    annotations: { readOnlyHint: true, openWorldHint: false },
    _meta: { 'example.com/team': 'core' },
    icons: [{ src: 'https://example.com/echo.png', mimeType: 'image/png', sizes: ['48x48'] }],
    call: (args) => text(String(args.text)),
  },
  {
    name: 'add',
    description: 'Adds two numbers',
    input: z.object({ a: z.number(), b: z.number() }),
    output: z.object({ sum: z.number() }),
    call: ({ a, b }) => {
      const structuredContent = { sum: Number(a) + Number(b) }
      return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent }
    },
  },
  { name: 'plain', description: 'Takes nothing', call: () => text('plain') },
  {
    name: 'booking',
    description: 'Takes nested, optional and defaulted arguments',
    input: z.object({
      guest: z.object({ name: z.string(), age: z.int().min(0).optional() }),
      nights: z.int().min(1).max(30).default(1),
      kind: z.enum(['single', 'double']).optional(),
      tags: z.array(z.string()).max(3).default([]),
    }),
    call: (args) => text(JSON.stringify(args)),
  },
  {
    name: 'region',
    description: 'Mirrors its parameters into headers',
    input: z.object({
      region: z.string().meta({ 'x-mcp-header': 'Region' }),
      priority: z.int().meta({ 'x-mcp-header': 'Priority' }).optional(),
      urgent: z.boolean().meta({ 'x-mcp-header': 'Urgent' }).optional(),
    }),
    call: ({ region }) => text(String(region)),
  },
  {
    name: 'media',
    description: 'Returns every kind of content',
    call: () => ({
      content: [
        { type: 'text', text: 'all kinds', annotations: { audience: ['user'], priority: 0.5 } },
        { type: 'image', data: PNG, mimeType: 'image/png' },
        { type: 'audio', data: 'UklGRg==', mimeType: 'audio/wav' },
        { type: 'resource', resource: { uri: 'doc://readme', mimeType: 'text/plain', text: 'read me' } },
        { type: 'resource', resource: { uri: 'doc://logo', mimeType: 'image/png', blob: PNG } },
        {
          type: 'resource_link',
          uri: 'doc://readme',
          name: 'readme',
          description: 'A file',
          mimeType: 'text/plain',
        },
      ],
      _meta: { 'example.com/trace': 'abc' },
    }),
  },
  {
    name: 'relay',
    description: 'Passes on what another server answered',
    call: () => ({
      content: [{ type: 'text', text: 'relayed' }],
      _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'Upstream', version: '9.9.9' } },
    }),
  },
  { name: 'empty', description: 'Returns no content', call: () => ({ content: [] }) },
  {
    name: 'refuse',
    description: 'Returns an error result',
    call: () => ({ content: [{ type: 'text', text: 'No.' }], isError: true }),
  },
  {
    name: 'throw',
    description: 'Throws',
    call: () => {
      throw new Error('thrown on purpose')
    },
  },
  {
    name: 'reject',
    description: 'Rejects after a turn',
    call: async () => {
      await Promise.resolve()
      throw new TypeError('rejected on purpose')
    },
  },
  {
    name: 'wrong-output',
    description: 'Breaks its own outputSchema',
    output: z.object({ sum: z.number() }),
    call: () => ({ content: [], structuredContent: { sum: 'not a number' } }),
  },
  {
    name: 'no-output',
    description: 'Forgets its structured content',
    output: z.object({ sum: z.number() }),
    call: () => text('no structured content'),
  },
  {
    name: 'report',
    description: 'Reports progress and logs',
    input: z.object({ steps: z.int().min(1).max(3).default(1) }),
    call: async ({ steps }, report) => {
      await report.log('debug', 'begin')
      await report.log('warning', { steps })
      for (let step = 1; step <= Number(steps); step++) await report.progress(step, Number(steps))
      return text('reported')
    },
  },
]

export interface FixtureResource {
  readonly name: string
  /** A fixed URI. */
  readonly uri?: string
  readonly uriTemplate?: string
  readonly title?: string
  readonly description?: string
  readonly mimeType?: string
  /** Values for the variables of the template. */
  readonly values?: { readonly [variable: string]: readonly string[] }
  read(
    uri: string,
    variables: Record<string, string>,
  ): { uri: string; mimeType?: string; text: string }[] | { uri: string; mimeType?: string; blob: string }[]
}

export const RESOURCES: readonly FixtureResource[] = [
  {
    name: 'readme',
    uri: 'doc://readme',
    title: 'Read me',
    description: 'The first thing to read',
    mimeType: 'text/plain',
    read: (uri) => [{ uri, mimeType: 'text/plain', text: 'read me' }],
  },
  {
    name: 'logo',
    uri: 'doc://logo',
    mimeType: 'image/png',
    read: (uri) => [{ uri, mimeType: 'image/png', blob: PNG }],
  },
  {
    name: 'chapters',
    uri: 'doc://chapters',
    read: (uri) => [
      { uri: `${uri}/1`, text: 'one' },
      { uri: `${uri}/2`, text: 'two' },
    ],
  },
  {
    name: 'broken',
    uri: 'doc://broken',
    read: () => {
      throw new Error('broken on purpose')
    },
  },
  {
    name: 'user',
    uriTemplate: 'users://{id}',
    description: 'One user',
    mimeType: 'application/json',
    values: { id: ['ada', 'alan', 'grace'] },
    read: (uri, { id }) => [{ uri, mimeType: 'application/json', text: JSON.stringify({ id }) }],
  },
  {
    name: 'file',
    uriTemplate: 'repo://{owner}/files/{name}',
    values: { owner: Array.from({ length: 120 }, (_, index) => `owner-${index}`) },
    read: (uri, variables) => [{ uri, text: JSON.stringify(variables) }],
  },
]

export interface FixturePrompt {
  readonly name: string
  readonly title?: string
  readonly description?: string
  /** Every argument is a string; `?` at the end makes it optional. */
  readonly args?: readonly string[]
  readonly values?: { readonly [argument: string]: readonly string[] }
  get(args: Record<string, string | undefined>): PromptMessage[]
}

export const PROMPTS: readonly FixturePrompt[] = [
  {
    name: 'greet',
    title: 'Greet',
    description: 'Greets somebody',
    args: ['name', 'style?'],
    values: { style: ['formal', 'friendly', 'funny'] },
    get: ({ name, style }) => [
      { role: 'user', content: { type: 'text', text: `Greet ${name}, ${style ?? 'plainly'}.` } },
    ],
  },
  {
    name: 'hello',
    get: () => [
      { role: 'user', content: { type: 'text', text: 'Hello' } },
      { role: 'assistant', content: { type: 'text', text: 'Hello to you' } },
    ],
  },
  {
    name: 'illustrated',
    description: 'Shows a picture and a file',
    get: () => [
      { role: 'user', content: { type: 'image', data: PNG, mimeType: 'image/png' } },
      { role: 'user', content: { type: 'resource', resource: { uri: 'doc://readme', text: 'read me' } } },
    ],
  },
  {
    name: 'broken',
    get: () => {
      throw new Error('broken on purpose')
    },
  },
]

/** The completer of one argument: its values that start with what was typed. */
export function startingWith(values: readonly string[]): (typed: string) => string[] {
  return (typed) => values.filter((value) => value.startsWith(typed))
}

/** The schema of a prompt's arguments; `wrap` marks those that have values to suggest. */
export function promptSchema(
  { args = [], values = {} }: FixturePrompt,
  wrap: (schema: z.ZodString, values: readonly string[]) => z.ZodType = (schema) => schema,
): z.ZodObject | undefined {
  if (args.length === 0) return undefined
  const shape: Record<string, z.ZodType> = {}
  for (const argument of args) {
    const name = argument.replace('?', '')
    const suggested = values[name]
    const schema = suggested === undefined ? z.string() : wrap(z.string(), suggested)
    shape[name] = argument.endsWith('?') ? schema.optional() : schema
  }
  return z.object(shape)
}
