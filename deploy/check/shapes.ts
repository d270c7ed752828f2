/** The shapes of tools, resources and prompts, as in the specification and as official clients enforce them. */
import type { Era } from './messages.ts'
import {
  anyObject,
  array,
  boolean,
  dateTime,
  number,
  object,
  oneOf,
  priority,
  record,
  type Shape,
  string,
} from './shape.ts'

const icons = array(
  object({ src: string }, { mimeType: string, sizes: array(string), theme: oneOf('light', 'dark') }),
)

const named = { title: string, description: string, icons, _meta: anyObject }

const annotations = object(
  {},
  { audience: array(oneOf('user', 'assistant')), priority, lastModified: dateTime },
)

const toolAnnotations = object(
  {},
  {
    title: string,
    readOnlyHint: boolean,
    destructiveHint: boolean,
    idempotentHint: boolean,
    openWorldHint: boolean,
  },
)

const legacySchema = object(
  { type: oneOf('object') },
  { properties: record(anyObject), required: array(string) },
)

/** The shape of a tool, by era: since 2026-07-28 an `outputSchema` may describe any value. */
export const TOOL: { readonly [era in Era]: Shape } = {
  modern: object(
    {
      name: string,
      inputSchema: object(
        { type: oneOf('object') },
        { $schema: string, properties: anyObject, required: array(string) },
      ),
    },
    { ...named, outputSchema: object({}, { $schema: string }), annotations: toolAnnotations },
  ),
  legacy: object(
    { name: string, inputSchema: legacySchema },
    {
      ...named,
      outputSchema: legacySchema,
      annotations: toolAnnotations,
      execution: object({}, { taskSupport: oneOf('required', 'optional', 'forbidden') }),
    },
  ),
}

export const PROMPT: Shape = object(
  { name: string },
  { ...named, arguments: array(object({ name: string }, { description: string, required: boolean })) },
)

export const RESOURCE: Shape = object(
  { uri: string, name: string },
  { ...named, mimeType: string, size: number, annotations },
)

export const RESOURCE_TEMPLATE: Shape = object(
  { uriTemplate: string, name: string },
  { ...named, mimeType: string, annotations },
)

const capabilities = object(
  {},
  {
    experimental: record(anyObject),
    logging: anyObject,
    completions: anyObject,
    prompts: object({}, { listChanged: boolean }),
    resources: object({}, { subscribe: boolean, listChanged: boolean }),
    tools: object({}, { listChanged: boolean }),
    extensions: record(anyObject),
  },
)

export const INITIALIZE_RESULT: Shape = object(
  {
    protocolVersion: string,
    capabilities,
    serverInfo: object(
      { name: string, version: string },
      { title: string, description: string, websiteUrl: string, icons },
    ),
  },
  { instructions: string },
)

export const DISCOVER_RESULT: Shape = object(
  { supportedVersions: array(string), capabilities },
  { instructions: string },
)
