/**
 * The wire types of tools, prompts and resources, named as in MCP 2026-07-28 `schema.ts`.
 * Plain interfaces; a type test keeps them assignable to the official SDK's.
 */

export type Role = 'user' | 'assistant'

/** An icon to display. */
export interface Icon {
  /** `https:` URL or `data:` URI. */
  src: string
  mimeType?: string
  /** For example `['48x48']` or `['any']`. */
  sizes?: string[]
  theme?: 'light' | 'dark'
}

/** Hints for the client about a resource or content block. */
export interface Annotations {
  audience?: Role[]
  /** 0 (least) to 1 (most important). */
  priority?: number
  /** ISO 8601. */
  lastModified?: string
}

export type Meta = Record<string, unknown>

interface BlockBase {
  annotations?: Annotations
  _meta?: Meta
}

/** Text. */
export interface TextContent extends BlockBase {
  type: 'text'
  text: string
}

/** An image. */
export interface ImageContent extends BlockBase {
  type: 'image'
  /** Base64. */
  data: string
  mimeType: string
}

/** A sound. */
export interface AudioContent extends BlockBase {
  type: 'audio'
  /** Base64. */
  data: string
  mimeType: string
}

/** The content of a resource as text. */
export interface TextResourceContents {
  uri: string
  mimeType?: string
  text: string
  _meta?: Meta
}

/** The content of a resource as bytes. */
export interface BlobResourceContents {
  uri: string
  mimeType?: string
  /** Base64. */
  blob: string
  _meta?: Meta
}

/** A resource with its content. */
export interface EmbeddedResource extends BlockBase {
  type: 'resource'
  resource: TextResourceContents | BlobResourceContents
}

/** A resource that the client can read by its URI. */
export interface ResourceLink extends BlockBase {
  type: 'resource_link'
  uri: string
  name: string
  title?: string
  description?: string
  mimeType?: string
  size?: number
  icons?: Icon[]
}

/** A content block of a tool result or a prompt message. */
export type ContentBlock = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource

/** The result of `tools/call`. */
export interface CallToolResult {
  content: ContentBlock[]
  /** Any JSON value; validated if the tool has an `outputSchema`. */
  structuredContent?: unknown
  isError?: boolean
  _meta?: Meta
}

/** One message of a prompt. */
export interface PromptMessage {
  role: Role
  content: ContentBlock
}

/** The result of `prompts/get`. */
export interface GetPromptResult {
  description?: string
  messages: PromptMessage[]
  _meta?: Meta
}

/** An `isError` result with one line of text. */
export function errorResult(text: string): CallToolResult {
  return { content: [{ type: 'text', text }], isError: true }
}
