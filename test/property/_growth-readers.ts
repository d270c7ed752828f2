/** What reads text of servers behind this one, of a checked server, of a model and of a platform. */
import { readCall } from '../../adapters/_lambda/event-to-request.ts'
import { outlineOf } from '../../adapters/_node/outline.ts'
import { createJoiner, toPayloads } from '../../adapters/_postgres/chunks.ts'
import { isLocalHost, kindOf } from '../../deploy/check/addresses.ts'
import { metadataUrl } from '../../deploy/check/authorization.ts'
import { decodingsOf } from '../../deploy/check/decodings.ts'
import { parseDocument } from '../../deploy/check/document.ts'
import { schemaFault } from '../../deploy/check/json-schema.ts'
import { charsetOf, essence } from '../../deploy/check/media-type.ts'
import { quote, toSafeText } from '../../deploy/check/safe-text.ts'
import { createHide } from '../../deploy/check/secrets.ts'
import { geminiRefuses } from '../../deploy/check/tool-schemas.ts'
import { keepWellFormed } from '../../src/client/lists.ts'
import { printableDocument } from '../../src/client/oauth-document.ts'
import { printable } from '../../src/client/printable.ts'
import { Secrets } from '../../src/client/secrets.ts'
import { findStarted, readTask } from '../../src/client/task.ts'
import { textOf } from '../../src/definition/error-text.ts'
import { toCallerText } from '../../src/gateway/failure.ts'
import { FilterError, parseFilter } from '../../src/retrieval/filter.ts'

const hide = createHide(['a-secret-of-some-length'])
const BEHIND = new URL('https://api.example:8443/mcp')

/** Bounds the memory of what is an object for each character. */
const MAX_ITEMS = 20_000

function each<Item>(text: string, toItem: (character: string, index: number) => Item): Item[] {
  return [...text.slice(0, MAX_ITEMS)].map(toItem)
}

/** What does not throw anything but its own errors. */
function refusing(run: () => unknown, isRefusal: (error: unknown) => boolean): void {
  try {
    run()
  } catch (error) {
    if (!isRefusal(error)) throw error
  }
}

/** Parts of a schema that refer to each other, and to nothing. */
function schemaOf(text: string): object {
  const $defs = Object.fromEntries(
    each(text, (_, index) => [index, { [index > 0 ? '$anchor' : '$id']: `a${index}`, $ref: `#b${index}` }]),
  )
  return { $id: text, title: text, pattern: text, properties: { [text]: $defs }, $defs }
}

const SECRETS = new Secrets({ url: 'https://api.example/mcp?key=aaaaaaaa', token: 'a secret' })

export const OTHERS: { readonly [reader: string]: (text: string) => unknown } = {
  'a text of a server': (text) => {
    printable(text, text.length)
    toCallerText(`${text}api.example${text}`, BEHIND)
    printableDocument(text, true, SECRETS)
    printableDocument(JSON.stringify({ error: text, error_description: text }), false, SECRETS)
    SECRETS.hideIn(new Error(text, { cause: { [text]: [text] } }))
  },
  'lists of a server': (text) => {
    const tools = each(text, (name) => ({ name, description: name, inputSchema: { type: 'object' } }))
    const long = { name: text, inputSchema: { type: 'object', properties: { [text]: { title: text } } } }
    keepWellFormed('tools/list', { tools: [...tools.slice(0, 2000), long] }, 'modern')
    keepWellFormed('resources/list', { resources: [{ name: 'a', uri: text }] }, 'legacy')
  },
  'a task of a server': (text) => {
    findStarted(new Error(text))
    refusing(
      () => readTask({ taskId: text, status: 'working', createdAt: text, statusMessage: text }),
      (error) => textOf(error).includes('taskId') || textOf(error).includes('At'),
    )
  },
  'a filter of a model': (text) => {
    const given = [
      text,
      { a: text, [text]: { $in: each(text, (one) => one) } },
      { $or: each(text, (a) => ({ a })) },
    ]
    for (const one of given)
      refusing(
        () => parseFilter(one),
        (error) => error instanceof FilterError,
      )
  },
  'texts in a report': (text) => {
    toSafeText(`${text}${quote(text)}`, hide)
    decodingsOf(text)
    parseDocument(text)
  },
  'headers in a report': (text) => {
    const type = text.replaceAll(/[^\t -~]/g, ' ')
    const headers = new Headers({ 'content-type': `application/json;charset=${type}` })
    essence(headers)
    charsetOf(headers)
    metadataUrl(`Bearer resource_metadata = ${text}`)
    isLocalHost(text)
    kindOf(text)
  },
  'schemas in a report': (text) => {
    schemaFault(schemaOf(text))
    geminiRefuses(schemaOf(text))
  },
  'an event of Lambda': (text) => {
    const value = text.replaceAll(/[^\t -~]/g, ' ')
    const headers = { host: text, 'x-forwarded-proto': text, 'x-forwarded-for': text, a: value }
    const named = {
      headers,
      body: text,
      path: text,
      httpMethod: 'POST',
      queryStringParameters: { [text]: text },
    }
    const http = { method: 'POST', sourceIp: text }
    for (const call of [
      readCall({ ...named, requestContext: { elb: {} } }),
      readCall({ ...named, requestContext: { stage: text, path: `/${text}`, domainName: text } }),
      readCall({
        headers: { a: value },
        cookies: [value],
        rawPath: text,
        rawQueryString: text,
        body: text,
        requestContext: { http },
      }),
    ]) {
      call.toRequest()
      call.toPost()?.headers.get(text.replaceAll(/\W/g, '-'))
    }
  },
  'a body for the SDK': (text) => {
    outlineOf(
      each(text, (method, id) => ({ jsonrpc: '2.0', id, method, params: { [text.slice(0, 9)]: id } })),
    )
    outlineOf({ jsonrpc: '2.0', id: text, method: text, params: { protocolVersion: text } })
  },
  'parts of an event': (text) => {
    const join = createJoiner(() => {})
    for (const payload of toPayloads(JSON.stringify(text))) join(payload)
    join(text)
  },
}
