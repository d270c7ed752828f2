/** What is asked of a server, and what it must answer: one case is one request, or one conversation of two. */
import { isDeepStrictEqual } from 'node:util'
import { WrongAnswer } from '../expect.ts'
import { PROMPT, RESOURCE } from '../features/features.ts'
import { ACCEPT, CALL_ARGUMENTS, type Dialect, type Era, REQUEST_ID, template } from '../requests.ts'
import { FIELD_COUNT, moreFields } from '../tools.ts'
import type { Reply, Send } from './load.ts'
import type { Fixture } from './subject.ts'

/** What a server must offer for a case: the echo tools, more features beside them, or the tools for the bearer of a token alone. */
export type Offer = 'tools' | 'features' | 'auth'

export interface BenchCase {
  readonly name: string
  readonly offer: Offer
  readonly fixture: Fixture
  readonly eras: readonly Era[]
  /** Of the usual number of runs, where one run costs much. */
  readonly share: number
  /** @throws WrongAnswer */
  run(send: Send, dialect: Dialect, token: string): Promise<void>
}

const BOTH: readonly Era[] = ['modern', 'legacy']
const TEN: Fixture = { toolCount: 10, fieldCount: FIELD_COUNT }
const FIXTURES: readonly Fixture[] = [
  { toolCount: 1, fieldCount: FIELD_COUNT },
  TEN,
  { toolCount: 53, fieldCount: 25 },
  { toolCount: 100, fieldCount: FIELD_COUNT },
  { toolCount: 524, fieldCount: FIELD_COUNT },
]

/** The call that is measured unless other cases are asked for. */
export const DEFAULT_CASE = call(TEN)

export const CASES: readonly BenchCase[] = [
  ...FIXTURES.map((fixture) => call(fixture)),
  ...FIXTURES.map((fixture) => list(fixture)),
  call(TEN, { name: '4 KB', text: 'x'.repeat(4096) }),
  call(TEN, { name: '1 MB', text: 'x'.repeat(1_048_576), share: 0.05 }),
  resource(),
  prompt(),
  progress(),
  resumed(),
  authorized(),
]

function call(
  fixture: Fixture,
  { name = 'tools/call', text = CALL_ARGUMENTS.text as string, share = 1 } = {},
): BenchCase {
  return {
    ...{ name, offer: 'tools', fixture, eras: BOTH, share },
    run: async (send, dialect) => {
      const reply = await send(template(dialect, 'tools/call', echoParams(fixture, text)))
      expectText(resultOf(reply), text, reply)
    },
  }
}

function list(fixture: Fixture): BenchCase {
  const { toolCount, fieldCount } = fixture
  return {
    ...{ name: 'tools/list', offer: 'tools', fixture, eras: BOTH, share: toolCount > 10 ? 0.2 : 1 },
    run: async (send, dialect) => {
      const reply = await send(template(dialect, 'tools/list', {}))
      const { tools, nextCursor } = resultOf(reply) as { tools?: ListedTool[]; nextCursor?: unknown }
      const isRight =
        nextCursor === undefined &&
        tools?.length === toolCount &&
        tools.every(
          ({ name, inputSchema }) =>
            /^echo_\d+$/.test(name) && Object.keys(inputSchema.properties).length === fieldCount,
        )
      if (!isRight) throw wrong('a list that is not complete', reply)
    },
  }
}

interface ListedTool {
  readonly name: string
  readonly inputSchema: { readonly properties: object }
}

function resource(): BenchCase {
  return {
    ...{ name: 'resources/read', offer: 'features', fixture: TEN, eras: BOTH, share: 1 },
    run: async (send, dialect) => {
      const reply = await send(template(dialect, 'resources/read', { uri: RESOURCE.uri }))
      const { contents } = resultOf(reply) as { contents?: { uri: string; text: string }[] }
      if (contents?.length !== 1 || contents[0]?.uri !== RESOURCE.uri || contents[0].text !== RESOURCE.text)
        throw wrong('another resource', reply)
    },
  }
}

function prompt(): BenchCase {
  return {
    ...{ name: 'prompts/get', offer: 'features', fixture: TEN, eras: BOTH, share: 1 },
    run: async (send, dialect) => {
      const params = { name: PROMPT.name, arguments: { name: 'Ada' } }
      const reply = await send(template(dialect, 'prompts/get', params))
      const { messages } = resultOf(reply)
      const wanted = [{ role: 'user', content: { type: 'text', text: PROMPT.textFor('Ada') } }]
      if (!isDeepStrictEqual(messages, wanted)) throw wrong('another prompt', reply)
    },
  }
}

/** A call that reports its progress once, which makes the answer a stream. */
function progress(): BenchCase {
  return {
    ...{ name: 'progress', offer: 'features', fixture: TEN, eras: BOTH, share: 1 },
    run: async (send, dialect) => {
      const params = { name: 'progress', arguments: {}, _meta: { progressToken: 'token' } }
      const reply = await send(template({ ...dialect, accept: ACCEPT }, 'tools/call', params))
      const [notification] = messagesOf(reply)
      const { progressToken, progress } = notification?.params ?? {}
      if (notification?.method !== 'notifications/progress' || progressToken !== 'token' || progress !== 1)
        throw wrong('no progress', reply)
      expectText(resultOf(reply), 'done', reply)
    },
  }
}

/** A call that asks the user, and its retry with the answer. Only the modern era suspends a call. */
function resumed(): BenchCase {
  const capabilities = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } }
  return {
    ...{ name: 'resume', offer: 'features', fixture: TEN, eras: ['modern'], share: 1 },
    run: async (send, dialect) => {
      const params = { name: 'ask', arguments: {}, _meta: capabilities }
      const asked = await send(template(dialect, 'tools/call', params))
      const { resultType, inputRequests = {}, requestState } = resultOf(asked) as Asked
      const [key] = Object.keys(inputRequests)
      if (resultType !== 'input_required' || key === undefined) throw wrong('no question', asked)
      const inputResponses = { [key]: { action: 'accept', content: { ok: true } } }
      const retried = { ...params, inputResponses, ...(requestState !== undefined && { requestState }) }
      const reply = await send(template(dialect, 'tools/call', retried))
      expectText(resultOf(reply), 'accept', reply)
    },
  }
}

interface Asked {
  readonly resultType?: string
  readonly inputRequests?: object
  readonly requestState?: string
}

function authorized(): BenchCase {
  return {
    ...{ name: 'jwt', offer: 'auth', fixture: TEN, eras: BOTH, share: 1 },
    run: async (send, dialect, token) => {
      const headers = { authorization: `Bearer ${token}` }
      const params = echoParams(TEN, CALL_ARGUMENTS.text)
      const reply = await send(template(dialect, 'tools/call', params, headers))
      expectText(resultOf(reply), CALL_ARGUMENTS.text, reply)
    },
  }
}

/** The last tool: whoever searches a list finds it last. */
function echoParams({ toolCount, fieldCount }: Fixture, text: string): { name: string; arguments: object } {
  const more = Object.fromEntries(moreFields(fieldCount).map((name) => [name, name]))
  return { name: `echo_${toolCount - 1}`, arguments: { ...CALL_ARGUMENTS, ...more, text } }
}

interface Message {
  readonly id?: unknown
  readonly method?: string
  readonly params?: Record<string, unknown>
  readonly result?: Record<string, unknown>
}

function messagesOf({ contentType, text }: Reply): readonly Message[] {
  if (!contentType.startsWith('text/event-stream')) return [JSON.parse(text) as Message]
  const data = text.split('\n').filter((line) => line.startsWith('data:') && line.trim() !== 'data:')
  return data.map((line) => JSON.parse(line.slice('data:'.length)) as Message)
}

function resultOf(reply: Reply): Record<string, unknown> {
  if (reply.status !== 200) throw wrong('an error', reply)
  const answer = messagesOf(reply).find(({ id }) => id === REQUEST_ID)
  if (answer?.result === undefined || answer.result.isError === true) throw wrong('no result', reply)
  return answer.result
}

function expectText({ content }: Record<string, unknown>, text: string, reply: Reply): void {
  if (!isDeepStrictEqual(content, [{ type: 'text', text }])) throw wrong('another text', reply)
}

function wrong(what: string, { status, text }: Reply): WrongAnswer {
  return new WrongAnswer(`${what}, status ${status}: ${text.slice(0, 400)}`)
}
