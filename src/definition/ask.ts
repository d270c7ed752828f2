/**
 * What a tool may ask of the client, and what comes back: the types of `ctx.elicit`, `ctx.createMessage` and `ctx.listRoots`.
 */
import type { InferOutput, Schema } from './schema.ts'

export interface ElicitOptions {
  /** Field names that look like secrets but are not. Secrets belong in URL mode: a form passes through the client. */
  readonly notSecret?: readonly string[]
  /** What happens when a legacy client would have to be asked; default: what the server is configured with. */
  readonly legacy?: LegacyPolicy
  /**
   * How the question's name in `inputRequests` begins; once in a call. The rest is a hash of what it asks, with or without a key:
   * an answer counts for no other text and no other form.
   */
  readonly key?: string
}

/**
 * What happens when a legacy client must be asked. `explain`: a result that says what is needed. `arguments`: the model asks
 * its user and calls again with the answers. `rendezvous`: the client is asked on the response stream.
 */
export type LegacyPolicy = 'explain' | 'arguments' | 'rendezvous'

/** How the user answered a form. `decline` and `cancel` are answers, not errors. */
export type ElicitAnswer<Content> =
  | {
      action: 'accept'
      content: Content /** `content`, under the name that mcp-use gives it. */
      readonly data: Content
    }
  | { action: 'decline' | 'cancel' }

/** `elicitation/create` parameters as on the wire. */
export type ElicitParams =
  | {
      mode?: 'form'
      message: string
      requestedSchema: { type: 'object'; properties: object; required?: string[] }
    }
  | { mode: 'url'; message: string; url: string }

/** `sampling/createMessage` parameters as on the wire. */
export interface CreateMessageParams {
  messages: readonly { role: 'user' | 'assistant'; content: unknown }[]
  maxTokens: number
  systemPrompt?: string
  temperature?: number
  stopSequences?: string[]
  modelPreferences?: object
  tools?: readonly object[]
  toolChoice?: object
  metadata?: object
}

export interface CreateMessageResult {
  role: 'user' | 'assistant'
  content: unknown
  model: string
  stopReason?: string
}

export interface Root {
  uri: string
  name?: string
}

/** What `ctx.elicit` answers, by how it was called. */
export interface Elicit {
  /** Asks with a form. @throws TypeError for a schema that is no form. */
  <S extends Schema>(
    message: string,
    schema: S,
    options?: ElicitOptions,
  ): Promise<ElicitAnswer<InferOutput<S>>>
  /** Sends the user to a URL: for anything sensitive. */
  (
    message: string,
    url: string | URL,
    options?: ElicitOptions,
  ): Promise<{ action: 'accept' | 'decline' | 'cancel' }>
  /** Asks with parameters as on the wire. */
  (params: ElicitParams, options?: ElicitOptions): Promise<ElicitAnswer<Record<string, unknown>>>
}
