/** Work in proportion: whatever reads bytes of a stranger takes at most 96 times as long for sixteen times the bytes (_growth.ts). */
import { expect, it, vi } from 'vitest'
import { createHide } from '../../deploy/check/secrets.ts'
import { createSplit } from '../../deploy/ingest/split.ts'
import { toCurl, toTypeScript } from '../../deploy/playground/browser/call-text.ts'
import { indented, pretty, sourceAt, wholeJson } from '../../deploy/playground/browser/json.ts'
import { paramHeaders } from '../../deploy/playground/browser/param-headers.ts'
import { toField } from '../../deploy/playground/browser/schema.ts'
import { maskedText, requestText } from '../../deploy/playground/browser/sign-in-steps.ts'
import { expand, variablesOf } from '../../deploy/playground/browser/uri-template.ts'
import { toScopes } from '../../src/auth/scopes.ts'
import { bearer } from '../../src/auth.ts'
import { fromBase64Url } from '../../src/definition/base64.ts'
import { digest } from '../../src/definition/digest.ts'
import { printError } from '../../src/definition/print-error.ts'
import { hasDuplicates } from '../../src/definition/schema-bounds.ts'
import { metered } from '../../src/definition/schema-budget.ts'
import { templateVariables } from '../../src/definition/template-variables.ts'
import { escapeUnprintable } from '../../src/definition/unprintable.ts'
import { foldUri, isPlainUri, spellingsOf } from '../../src/definition/uri.ts'
import { compileUriPattern } from '../../src/definition/uri-pattern.ts'
import { compileUriTemplate } from '../../src/definition/uri-template.ts'
import { parseFilter } from '../../src/events/listen-filter.ts'
import { connectSnippets } from '../../src/http/connect-snippets.ts'
import { isJson } from '../../src/http/content-type.ts'
import { createResource, createTool, jsonSchema } from '../../src/index.ts'
import { readReason } from '../../src/interaction/asked-again.ts'
import { createEventReader } from '../../src/protocol/event-stream.ts'
import { parseJson } from '../../src/protocol/json-rpc.ts'
import { acceptedTypes } from '../../src/protocol/sse-response.ts'
import { parseHost, toAddress } from '../../src/request/address.ts'
import { displayHost, displayText, displayUrl } from '../../src/sign-in/pages/display-text.ts'
import { parseEvents } from '../../src/webhook/events.ts'
import { createServer, post } from '../unit/_client.ts'
import { growsInProportion, growthOf, MOST, TEXTS } from './_growth.ts'
import { OTHERS } from './_growth-readers.ts'

const template = compileUriTemplate('a://{x}/{+y}{?z,w}')
const pattern = compileUriPattern('a://{x}/{+y}{?z,w}')!
const hide = createHide(['a-secret-of-some-length', 'aaaaaaaa'])
const URIS = [
  createResource({ uri: 'a://till', scopes: ['vault'], read: () => '' }),
  createResource({ uriTemplate: 'a://{+path}', read: () => 'read' }),
]
const guarded = createServer({
  auth: bearer(() => ({ clientId: 'c', scopes: [] })),
  resources: URIS,
  http: { maxBodyBytes: 50_000_000, maxStringCharacters: 50_000_000 },
})
const TREE = {
  type: 'object',
  additionalProperties: { $ref: '#/$defs/node' },
  $defs: {
    node: {
      type: ['object', 'string', 'array'],
      items: { $ref: '#/$defs/node' },
      anyOf: [{ maxLength: 9 }, { minLength: 3 }],
    },
  },
}
const say = createServer({
  tools: { say: createTool({ id: 'say', inputSchema: jsonSchema(TREE), execute: () => 'said' }) },
})

async function ask(server: ReturnType<typeof createServer>, text: string): Promise<void> {
  const request = post(text, {
    headers: { authorization: 'Bearer token', 'mcp-protocol-version': '2025-11-25' },
  })
  await (await server.handle(request, {})).text()
}

/** Everything that reads text of a stranger. */
const READERS: { readonly [reader: string]: (text: string) => unknown } = {
  foldUri: (text) => foldUri(`a://${text}`),
  spellingsOf: (text) => spellingsOf(`a://${text}`),
  isPlainUri: (text) => isPlainUri(`a://${text}`),
  'a URI template': (text) => template.match(`a://${text}`),
  'a URI pattern': (text) => pattern.covers(`a:/${text.slice(0, 100_000)}`),
  'the event reader': (text) => createEventReader(() => {})(text),
  'the event reader, in pieces': (text) => {
    const read = createEventReader(() => {})
    for (let at = 0; at < text.length; at += 16) read(text.slice(at, at + 16))
  },
  base64url: fromBase64Url,
  'the name of a server': (text) => connectSnippets(text, 'https://a.example/mcp'),
  'secrets in a report': (text) => hide.inForeign(text, false),
  'the form of a title': (text) =>
    toField({ type: 'object', properties: { a: { title: text, description: text, default: text } } }),
  'the variables of a template': variablesOf,
  'JSON on the page': (text) => {
    pretty(text)
    pretty([...text.slice(0, 40_000)])
    pretty({ [text]: text })
    pretty(JSON.parse('['.repeat(text.length / 2) + ']'.repeat(text.length / 2)))
  },
  'JSON as it was sent': (text) => {
    indented(`[${text}`)
    indented(JSON.stringify([text]))
    sourceAt(`{"a":{"b":[${text}`, ['a', 'b'])
    sourceAt(JSON.stringify({ a: { b: text } }), ['a', 'b'])
    indented('['.repeat(text.length / 2) + ']'.repeat(text.length / 2))
    wholeJson({ [text]: text })
  },
  'a copied call': (text) => {
    const body = { method: 'tools/call', params: { name: text, arguments: { [text]: text } } }
    const draft = { url: `https://a.example/?${text}`, headers: { 'mcp-name': text }, body }
    toCurl(draft)
    toTypeScript(draft)
  },
  'a step of a sign-in': (text) => {
    maskedText(text)
    maskedText(JSON.stringify({ [text]: [text] }))
    requestText('POST', `https://a.example/?${text}`, `a=${text}`)
  },
  'a JSON string': (text) => parseJson(JSON.stringify(text), LIMITS),
  'JSON that is none': (text) => {
    try {
      parseJson(text, LIMITS)
    } catch {
      // Refused.
    }
  },
}

Object.assign(READERS, {
  Accept: (text: string) => acceptedTypes(text),
  'Content-Type': (text: string) => isJson(`application/json; charset=${text}`),
  Host: (text: string) => parseHost(text),
  'a forwarded address': (text: string) => toAddress(text),
  'a scope claim': (text: string) => toScopes(text),
  'a reason in a question': (text: string) => readReason(text),
  'the name of a client': (text: string) => {
    displayText(text, 60)
    displayHost(text)
    displayUrl(`https://${text}`)
  },
  'unprintable characters': (text: string) => escapeUnprintable(text),
  'a thrown value': (text: string) =>
    printError(Object.assign(new Error(text), { cause: text, stack: text })),
  'a webhook': (text: string) => parseEvents(new TextEncoder().encode(text)),
  'a digest': (text: string) => digest(text),
  'equal items': (text: string) => hasDuplicates([...text.slice(0, 40_000)]),
  'a metered value': (text: string) => metered([text, [...text.slice(0, 40_000)]]),
  'a filter of subscriptions': (text: string) => {
    try {
      parseFilter({ resourceSubscriptions: [text] })
    } catch {
      // Refused.
    }
  },
  'a template of a server': (text: string) => {
    try {
      templateVariables(`a://{${text}`)
    } catch {
      // Refused.
    }
  },
  'headers from arguments': (text: string) =>
    paramHeaders({ properties: { a: { 'x-mcp-header': 'A' } } }, { a: text }),
  'a template with values': (text: string) => expand(text, new Map([['x', text]])),
})

/** Of `mayfly ingest`. */
const splitDocument = await createSplit(100, new Set(['markdown', 'html', 'text'] as const))
for (const kind of ['markdown', 'html', 'text'] as const)
  Object.assign(READERS, {
    [`a document of ${kind}`]: (text: string) => {
      try {
        // Of several parts, from the smallest size on.
        splitDocument(text.repeat(8), kind, () => {})
      } catch (error) {
        // Refused.
        expect(error).toBeInstanceOf(RangeError)
      }
    },
  })

const LIMITS = { maxDepth: 64, maxMembers: 1_000_000, maxStringCharacters: 50_000_000 }

const call = (method: string, params: object): string =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })

const REQUESTS: { readonly [what: string]: (text: string) => Promise<void> } = {
  'the URI of a resource': (text) => ask(guarded, call('resources/read', { uri: `a://${text}` })),
  'the arguments of a tool': (text) =>
    ask(say, call('tools/call', { name: 'say', arguments: { a: [text] } })),
  'the name of a tool': (text) => ask(say, call('tools/call', { name: text, arguments: {} })),
  'the body': (text) => ask(say, text),
}

it('finds work that grows faster', async () => {
  // A square's four times for twice the text was measured as 2.4 on a busy machine.
  const cubic = ({ length }: string): number => {
    let sum = 0
    for (let step = 0; step < (length / 64) ** 3; step++) sum = (sum + step) | 0
    return sum
  }
  // Compiled before it is measured.
  for (let turn = 0; turn < 3; turn++) cubic(TEXTS.letters!(20_000))
  expect(await growthOf(cubic, TEXTS.letters!)).toBeGreaterThan(MOST)
})

vi.spyOn(console, 'error').mockImplementation(() => {})

growsInProportion({ ...READERS, ...OTHERS, ...REQUESTS })
