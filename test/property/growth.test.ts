/**
 * Work in proportion: whatever reads bytes of a stranger takes at most 2.5 times as long for twice the bytes. By processor time, warmed up,
 * the least of several runs; sizes double until one run takes long enough to be measured.
 */
import ts from 'typescript'
import { describe, expect, it, vi } from 'vitest'
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
import { cpuMs } from '../_cpu.ts'
import { type Module, readModules } from '../architecture/_modules.ts'
import { createServer, post } from '../unit/_client.ts'
import { createWorld, ORIGIN } from '../unit/sign-in/_sign-in.ts'
import { FOLDERS, MODULES } from './_growth-modules.ts'
import { OTHERS } from './_growth-readers.ts'

/** Hostile shapes of a size. */
const TEXTS: { readonly [shape: string]: (size: number) => string } = {
  letters: (size) => 'a'.repeat(size),
  spaces: (size) => ' '.repeat(size),
  marks: (size) => '\u0316\u0301'.repeat(size / 2),
  'marks of half width': (size) => '\uFF9E\u0316'.repeat(size / 2),
  'encoded marks': (size) => '%CC%96%CC%81'.repeat(size / 12),
  'escapes of escapes': (size) => '%25'.repeat(size / 3),
  'half escapes': (size) => '%'.repeat(size),
  slashes: (size) => '/'.repeat(size),
  'steps up': (size) => 'a/../'.repeat(size / 5),
  dots: (size) => `${'.'.repeat(size)}x`,
  colons: (size) => ':'.repeat(size),
  streams: (size) => ':$'.repeat(size / 2),
  braces: (size) => '{'.repeat(size),
  commas: (size) => ',;='.repeat(size / 3),
  quotes: (size) => '"\\'.repeat(size / 2),
  lines: (size) => '\r\n'.repeat(size / 2),
  returns: (size) => '\r'.repeat(size),
  data: (size) => 'data:x\n'.repeat(size / 7),
  'blanks and quotes': (size) => `${' '.repeat(size)}"a"b`,
  base64url: (size) => 'QUJD'.repeat(size / 4),
  'lines of a quote': (size) => `> ${'y\n'.repeat(size / 2)}`,
  'quotes within each other': (size) => `${'>'.repeat(40)} x\n\n`.repeat(size / 44),
  'lists within each other': (size) => `${'- '.repeat(40)}x\n`.repeat(size / 82),
  links: (size) => `${'[a]('.repeat(25)}\n`.repeat(size / 101),
  elements: (size) => '<ul><li><b>a'.repeat(size / 12),
  'ended elements': (size) => `${'<ul><li>a'.repeat(20)}${'</ul>'.repeat(20)}`.repeat(size / 280),
  comments: (size) => '<!--'.repeat(size / 4),
}

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
  'a form of a token request': async (text) => {
    const world = createWorld()
    const grants = { code: 'authorization_code', refresh_token: 'refresh_token', assertion: 'none' }
    for (const [field, grant] of Object.entries(grants))
      await world.form('/oauth/token', {
        grant_type: grant,
        [field]: text,
        client_id: text,
        client_assertion: text,
      })
    await world.form('/oauth/token', { token: text }, { cookie: text.replaceAll(/[^\x21-\x7e]/g, ';') })
  },
  'a token request of a machine': async (text) => {
    const world = createWorld({ machines: { report: { scopes: [], secret: 's'.repeat(32) } } })
    const fields = { grant_type: 'client_credentials', client_id: 'report' }
    await world.form('/oauth/token', { ...fields, client_secret: text })
    await world.form('/oauth/token', { ...fields, client_assertion: text })
    const proven = { ...fields, client_secret: 's'.repeat(32) }
    await world.form('/oauth/token', { ...proven, scope: text, resource: text })
    await world.form('/oauth/token', { ...proven, scope: text })
    const authorization = `Basic ${btoa(`report:${text.replaceAll(/[^\x21-\x7e]/g, '+')}`)}`
    await world.form('/oauth/token', { grant_type: 'client_credentials' }, { authorization })
    await world.signIn.verify(text, world.context).catch(() => {})
  },
  'a registration': async (text) => {
    await createWorld().register({ client_name: text, redirect_uris: [`https://a.example/${text}`] })
    await createWorld().send(new Request(`${ORIGIN}/oauth/register`, { method: 'POST', body: text }))
  },
  'a request of a browser': async (text) => {
    const world = createWorld()
    const query = new URLSearchParams({ client_id: text, redirect_uri: text, state: text })
    for (const path of ['/oauth/authorize', '/oauth/callback', '/connections'])
      await world.get(`${path}?${query}`, { cookie: text.replaceAll(/[^\x21-\x7e]/g, ';') })
    await world.form('/oauth/authorize', { consent: text, csrf: text }, { origin: ORIGIN })
    await world.form('/connections', { connection: text, csrf: text }, { origin: ORIGIN })
  },
}

const TYPES = /^(?:string(?: \| (?:null|undefined))*|unknown|Uint8Array.*|Headers|Request|Params|Json)$/

function readsInput({ source }: Module): boolean {
  return source.statements.some(
    (statement) =>
      ts.isFunctionDeclaration(statement) &&
      statement.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) &&
      statement.parameters.some(({ type }) => TYPES.test(type?.getText() ?? '')),
  )
}

const SMALLEST = 1200
/** Milliseconds from which on a run can be compared with another. */
const MEASURABLE = 4
/** For what leaves much garbage, whose collection counts. */
const MEASURABLE_DOCUMENT = 30
const LARGEST = 80_000
/** How often a run is repeated to be sure: processor time is counted in steps of up to 4 ms. */
const REPEATS = 8
/** How many times as long twice the bytes may take. */
const MOST = 2.5

async function cpuOf(run: () => unknown): Promise<number> {
  const start = cpuMs()
  await run()
  return cpuMs() - start
}

/** The least time of three runs, or of those up to the first one whose time is enough. */
async function leastOf(run: () => unknown, isEnough: (ms: number) => boolean): Promise<number> {
  let least = await cpuOf(run)
  for (let turn = 1; turn < 3 && !isEnough(least); turn++) least = Math.min(least, await cpuOf(run))
  return least
}

/** How many times as long the last doubling takes, not more exactly than `MOST` needs; 1 where nothing takes long enough to tell. */
async function growthOf(
  read: (text: string) => unknown,
  shape: (size: number) => string,
  measurable: number = MEASURABLE,
  repeats = 1,
): Promise<number> {
  let before = 0
  const run = async (text: string): Promise<void> => {
    for (let turn = 0; turn < repeats; turn++) await read(text)
  }
  for (let size = SMALLEST; size <= LARGEST; size *= 2) {
    const text = shape(size)
    const isLast = before >= measurable
    const enough = isLast ? (ms: number) => ms <= MOST * before : (ms: number) => ms < measurable
    const time = await leastOf(() => run(text), enough)
    if (isLast) return time / before
    before = time
  }
  return 1
}

describe('this list', () => {
  it('has every module that exports a function of text, bytes or anything, or says why not', () => {
    const files = FOLDERS.flatMap(readModules)
      .filter(readsInput)
      .map(({ file }) => file)
    const listed = MODULES.map(([file]) => file)
    expect(files.filter((file) => !listed.includes(file))).toEqual([])
    expect(listed.filter((file, index) => !files.includes(file) || listed.indexOf(file) !== index)).toEqual(
      [],
    )
  })

  it('finds work that grows faster', async () => {
    // Eight times as long for twice the text: on a busy machine, a square's four was measured as 2.4.
    const cubic = ({ length }: string): number => {
      let sum = 0
      for (let step = 0; step < (length / 64) ** 3; step++) sum = (sum + step) | 0
      return sum
    }
    // Compiled before it is measured.
    for (let turn = 0; turn < 3; turn++) cubic(TEXTS.letters!(20_000))
    expect(await growthOf(cubic, TEXTS.letters!)).toBeGreaterThan(MOST)
  })
})

vi.spyOn(console, 'error').mockImplementation(() => {})

const all = { ...READERS, ...OTHERS, ...REQUESTS }
describe.each(Object.keys(all))('%s', (reader) => {
  it.each(Object.keys(TEXTS))('%s: twice as much takes at most 2.5 times as long', async (shape) => {
    // A collection of garbage, or a step of the clock, may fall into one of the runs: longer ones, before it counts.
    let growth = 0
    for (let turn = 0; turn < 3; turn++) {
      const measurable = reader.startsWith('a document') ? MEASURABLE_DOCUMENT : MEASURABLE
      const repeats = turn === 0 ? 1 : REPEATS
      growth = await growthOf(all[reader]!, TEXTS[shape]!, measurable * repeats, repeats)
      if (growth <= MOST) break
    }
    expect(growth).toBeLessThanOrEqual(MOST)
  })
})
