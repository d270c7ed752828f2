/**
 * The `server.json` that the MCP registry accepts, according to its schema of 2025-12-11 and the rules of its publishing service
 * (https://github.com/modelcontextprotocol/registry, docs/reference/server-json), read on 2026-11-23. Unknown members are allowed, as
 * there, except the names from earlier versions, which the registry would ignore.
 */
export const SCHEMA_URL = 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json'

/** The longest description and title, in characters. */
export const MAX_TEXT = 100

const text = { type: 'string' } as const
const shortText = { type: 'string', minLength: 1, maxLength: MAX_TEXT } as const
const listOf = (name: string) => ({ type: 'array', items: { $ref: `#/$defs/${name}` } }) as const
const httpUrl = { type: 'string', pattern: '^https?://[^\\s]+$' } as const

const input = {
  description: text,
  isRequired: { type: 'boolean' },
  isSecret: { type: 'boolean' },
  format: { enum: ['string', 'number', 'boolean', 'filepath'] },
  default: text,
  placeholder: text,
  value: text,
  choices: { type: 'array', items: text },
} as const
const variables = { type: 'object', additionalProperties: { $ref: '#/$defs/input' } } as const

export const SERVER_SCHEMA = {
  type: 'object',
  required: ['$schema', 'name', 'description', 'version'],
  properties: {
    $schema: { const: SCHEMA_URL },
    name: {
      type: 'string',
      minLength: 3,
      maxLength: 200,
      pattern: '^[a-zA-Z0-9]([a-zA-Z0-9.-]*[a-zA-Z0-9])/[a-zA-Z0-9]([a-zA-Z0-9._-]*[a-zA-Z0-9])$',
    },
    title: shortText,
    description: shortText,
    version: { type: 'string', minLength: 1, maxLength: 255 },
    websiteUrl: { type: 'string', pattern: '^https://[^\\s]+$' },
    repository: { $ref: '#/$defs/repository' },
    icons: listOf('icon'),
    remotes: listOf('remote'),
    packages: listOf('package'),
    _meta: { type: 'object' },
  },
  $defs: {
    input: { type: 'object', properties: input },
    named: { type: 'object', required: ['name'], properties: { ...input, name: text, variables } },
    argument: {
      type: 'object',
      required: ['type'],
      properties: {
        ...input,
        type: { enum: ['positional', 'named'] },
        name: text,
        valueHint: text,
        variables,
      },
      anyOf: [
        { properties: { type: { const: 'named' } }, required: ['name'] },
        {
          properties: { type: { const: 'positional' } },
          anyOf: [{ required: ['value'] }, { required: ['valueHint'] }],
        },
      ],
    },
    repository: {
      type: 'object',
      required: ['url', 'source'],
      properties: {
        url: { type: 'string', pattern: '^https?://(www\\.)?(github|gitlab)\\.com/[\\w.-]+(/[\\w.-]+)+/?$' },
        source: { enum: ['github', 'gitlab'] },
        id: text,
        subfolder: { type: 'string', pattern: '^(?!\\.{1,2}(/|$))[\\w.-]+(/(?!\\.{1,2}(/|$))[\\w.-]+)*$' },
      },
    },
    icon: {
      type: 'object',
      required: ['src'],
      properties: {
        src: { type: 'string', maxLength: 255, pattern: '^https://[^\\s]+$' },
        mimeType: { enum: ['image/png', 'image/jpeg', 'image/jpg', 'image/svg+xml', 'image/webp'] },
        sizes: { type: 'array', items: { type: 'string', pattern: '^(\\d+x\\d+|any)$' } },
        theme: { enum: ['light', 'dark'] },
      },
    },
    remote: {
      type: 'object',
      required: ['type', 'url'],
      properties: {
        type: { enum: ['streamable-http', 'sse'] },
        url: httpUrl,
        headers: listOf('named'),
        variables,
      },
    },
    package: {
      type: 'object',
      required: ['registryType', 'identifier', 'transport'],
      properties: {
        registryType: text,
        registryBaseUrl: httpUrl,
        identifier: { type: 'string', pattern: '^[^ ]+$' },
        version: { type: 'string', minLength: 1, maxLength: 255 },
        fileSha256: { type: 'string', pattern: '^[a-f0-9]{64}$' },
        runtimeHint: text,
        runtimeArguments: listOf('argument'),
        packageArguments: listOf('argument'),
        environmentVariables: listOf('named'),
        transport: {
          type: 'object',
          required: ['type'],
          properties: {
            type: { enum: ['stdio', 'streamable-http', 'sse'] },
            url: httpUrl,
            headers: listOf('named'),
          },
        },
      },
    },
  },
} as const
