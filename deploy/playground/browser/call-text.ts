/** A call as text to copy: for a shell, for a program, as JSON. No secret is in it: a token is a variable of the environment. */
import { asObject, asText, type Json, wholeJson } from './json.ts'

/** A call as the page sends it. */
export interface Draft {
  /** The endpoint, as other clients use it. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Json
}

/** Headers whose values are secrets, and the variables that stand for them. */
const SECRET_HEADERS: Readonly<Record<string, readonly [before: string, variable: string]>> = {
  authorization: ['Bearer ', 'MCP_TOKEN'],
  'mcp-session-id': ['', 'MCP_SESSION_ID'],
}

/** For a POSIX shell. */
export function toCurl({ url, headers, body }: Draft): string {
  const lines = Object.entries(headers).map(([name, value]) => {
    const [before, variable] = SECRET_HEADERS[name] ?? []
    if (variable !== undefined) return `-H "${name}: ${before}$${variable}"`
    // curl sends a header without a value only in this form.
    return `-H ${quoted(value === '' ? `${name};` : `${name}: ${value}`)}`
  })
  const { plain, values } = splitUrl(url)
  const address = plain.map((part, at) => quoted(part) + (values[at] === undefined ? '' : `"$${values[at]}"`))
  // -N: events are shown as they come. -g: brackets in the URL are not patterns.
  return [`curl -sSNg ${address.join('')}`, ...lines, `--data-raw ${quoted(escaped(jsonOf(body)))}`].join(
    ' \\\n  ',
  )
}

/** A program for Node and others. Undefined for a method that `MCPClient` has no function for. */
export function toTypeScript({ url, headers, body }: Draft): string | undefined {
  const { method, params } = body
  const { name, uri, arguments: given, cursor } = asObject(params)
  const calls: Readonly<Record<string, readonly [called: string, ...values: unknown[]]>> = {
    'tools/call': ['callTool', name, given ?? {}],
    'resources/read': ['resources.read', uri],
    'events/poll': ['events.poll', { name, arguments: given ?? {}, cursor }],
    'prompts/get': ['prompts.get', name, given ?? {}],
  }
  const [called, ...values] = calls[String(method)] ?? []
  if (called === undefined) return undefined
  const { plain, values: variables } = splitUrl(url)
  const address = plain
    .map(
      (part, at) => literal(part) + (variables[at] === undefined ? '' : ` + process.env.${variables[at]} + `),
    )
    .join('')
    .replace(/ \+ ""$/, '')
  const token = headers.authorization === undefined ? '' : ', token: () => process.env.MCP_TOKEN'
  return `import { MCPClient } from ${literal('mayfly-mcp/client')}

const client = new MCPClient({
  servers: { server: { url: ${address}${token} } },
})
const result = await client.${called}("server", ${values.map(literal).join(', ')})
console.dir(result, { depth: null })
await client.disconnect()
`
}

/** The method and its parameters, without what the client adds by itself. */
export function toJson({ body }: Draft): string {
  const { _meta, ...params } = asObject(body.params)
  return jsonOf({ method: body.method, params })
}

function jsonOf(value: unknown): string {
  const text = wholeJson(value)
  if (text === undefined) throw new Error('nested too deeply')
  return text
}

/** A value in TypeScript. */
function literal(value: unknown): string {
  const text = escaped(jsonOf(value))
  // In an object literal, this name would set the prototype.
  return text.includes('"__proto__"') ? `JSON.parse(${escaped(JSON.stringify(text))})` : text
}

/** JSON without characters that a terminal could take for commands, or that are not seen. */
function escaped(json: string): string {
  return json.replace(
    /[\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** Values of a query may be keys: they become variables, one after each part of the URL but the last. */
function splitUrl(url: string): { readonly plain: readonly string[]; readonly values: readonly string[] } {
  const { origin, pathname, searchParams } = new URL(url)
  const plain = [origin + pathname]
  const values: string[] = []
  for (const name of searchParams.keys()) {
    plain[values.length] += `${values.length === 0 ? '?' : '&'}${encodeURIComponent(name)}=`
    values.push(variableOf(name))
    plain.push('')
  }
  return { plain, values }
}

function variableOf(name: string): string {
  return `MCP_${(asText(name) ?? 'VALUE').toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}`
}
