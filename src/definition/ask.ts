/**
 * What a tool can ask the client, and the answers: the types of `ctx.elicit`, `ctx.createMessage` and `ctx.listRoots`.
 */
import type { InferOutput, Schema } from './schema.ts'
import type { Names } from './unknown-option.ts'

/** Options of `ctx.elicit`. */
export interface ElicitOptions {
  /** Field names that look like secrets but are not. Ask for secrets in URL mode: the client sees what is entered in a form. */
  readonly notSecret?: readonly string[]
  /** How to ask a legacy client. Default: the server's `legacy`. */
  readonly legacy?: LegacyPolicy
  /**
   * A prefix for the question's key in `inputRequests`, unique in the call. The rest of the key is always a hash of the question, so
   * that an answer counts only for the same text and form. Default: no prefix.
   */
  readonly key?: string
}

/** The names of `ElicitOptions`. */
export const ELICIT_OPTIONS: Names<ElicitOptions> = {
  notSecret: 'strings',
  legacy: { explain: 1, arguments: 1, rendezvous: 1 },
  key: 'string',
}

/** Our options among those of another framework, whose other options do not apply. */
export function elicitOptionsIn(given: object | undefined): ElicitOptions | undefined {
  const ours = Object.entries(given ?? {}).filter(([name]) => Object.hasOwn(ELICIT_OPTIONS, name))
  return given && Object.fromEntries(ours)
}

/**
 * How to ask a legacy client without a session. `explain`: a result that says what is needed. `arguments`: the model asks
 * its user and calls again with the answers. `rendezvous`: the client is asked on the response stream.
 */
export type LegacyPolicy = 'explain' | 'arguments' | 'rendezvous'

/** The user's answer to a form. `decline` and `cancel` are answers, not errors. */
export type ElicitAnswer<Content> =
  | {
      action: 'accept'
      content: Content
    }
  | { action: 'decline' | 'cancel' }

/** The parameters of `elicitation/create` in wire form. */
export type ElicitParams =
  | {
      mode?: 'form'
      message: string
      requestedSchema: { type: 'object'; properties: object; required?: string[] }
    }
  | { mode: 'url'; message: string; url: string }

/** The parameters of `sampling/createMessage` in wire form. */
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

/** The answer of the client's model (MCP, "Sampling"). */
export interface CreateMessageResult {
  role: 'user' | 'assistant'
  content: unknown
  model: string
  stopReason?: string
}

/** One of the client's roots (MCP, "Roots"). */
export interface Root {
  uri: string
  name?: string
}

/** The signatures of `ctx.elicit`. */
export interface Elicit {
  /** Asks with a form. @throws TypeError for a schema that a form does not allow. */
  <S extends Schema>(
    message: string,
    schema: S,
    options?: ElicitOptions,
  ): Promise<ElicitAnswer<InferOutput<S>>>
  /** Sends the user to a URL. Use it for anything sensitive. */
  (
    message: string,
    url: string | URL,
    options?: ElicitOptions,
  ): Promise<{ action: 'accept' | 'decline' | 'cancel' }>
  /** Asks with the parameters of `elicitation/create` in wire form. */
  (params: ElicitParams, options?: ElicitOptions): Promise<ElicitAnswer<Record<string, unknown>>>
}
