/**
 * JSON files of clients, with comments and trailing commas as VS Code, Cursor and Zed allow them. An addition changes no other character
 * of the file; before it is returned, the result is parsed and compared with the original plus the addition.
 */
import {
  createScanner,
  findNodeAtLocation,
  getNodeValue,
  type Node,
  type ParseError,
  parseTree,
} from 'jsonc-parser'
import type { Addition } from './clients.ts'
import { type Format, UnreadableError } from './format.ts'

/** `SyntaxKind` of jsonc-parser: a const enum, which does not exist at run time. */
const TOKEN = {
  openBrace: 1,
  closeBrace: 2,
  openBracket: 3,
  closeBracket: 4,
  comma: 5,
  lineComment: 12,
  blockComment: 13,
  lineBreak: 14,
  space: 15,
  end: 17,
} as const

export const jsonFormat: Format = {
  read: (text, key, name) => {
    const found = findNodeAtLocation(parse(text), [key, name])
    return found === undefined ? undefined : getNodeValue(found)
  },
  write: (text, name, addition) => {
    const { key, entry, inputs = [] } = addition
    const root = parse(text)
    const servers = memberOf(root, key, 'object')
    const wanted = JSON.stringify(expected(text, name, addition))
    let changed =
      servers === undefined ? put(text, root, key, { [name]: entry }) : put(text, servers, name, entry)
    for (const input of missingInputs(root, inputs)) changed = append(changed, 'inputs', input)
    if (JSON.stringify(getNodeValue(parseChanged(changed))) !== wanted) throw new UnreadableError(UNSAFE)
    return changed
  },
  render: (name, { key, entry, inputs }) =>
    `${JSON.stringify({ ...(inputs !== undefined && { inputs }), [key]: { [name]: entry } }, null, 2)}\n`,
}

const UNSAFE = 'cannot be changed safely: add the entry by hand'

/** Deeper than any real configuration; the parser is recursive. */
const MAX_DEPTH = 500

function parse(text: string): Node {
  if (isTooDeep(text)) throw new UnreadableError(`is nested more than ${MAX_DEPTH} levels deep`)
  const errors: ParseError[] = []
  const root = parseTree(text, errors, { allowTrailingComma: true })
  if (root === undefined || errors.length > 0) {
    const [{ offset } = { offset: 0 }] = errors
    throw new UnreadableError(`is not JSON (line ${text.slice(0, offset).split('\n').length})`)
  }
  if (root.type !== 'object') throw new UnreadableError('does not hold a JSON object')
  return root
}

/** Parses text that was changed here: an error is in the change, not in the user's file. */
function parseChanged(text: string): Node {
  try {
    return parse(text)
  } catch {
    throw new UnreadableError(UNSAFE)
  }
}

function isTooDeep(text: string): boolean {
  const scanner = createScanner(text, true)
  let depth = 0
  for (let token = scanner.scan(); token !== TOKEN.end && depth <= MAX_DEPTH; token = scanner.scan()) {
    if (token === TOKEN.openBrace || token === TOKEN.openBracket) depth++
    if (token === TOKEN.closeBrace || token === TOKEN.closeBracket) depth--
  }
  return depth > MAX_DEPTH
}

function plainValue(text: string): { [key: string]: unknown } {
  return getNodeValue(parse(text)) as { [key: string]: unknown }
}

/** The value of a member. Throws if it has another type, or if the name is repeated: clients differ in which one they read. */
function memberOf(object: Node, key: string, type: 'object' | 'array'): Node | undefined {
  const found = (object.children ?? []).filter((property) => property.children?.[0]?.value === key)
  if (found.length > 1) throw new UnreadableError(`has "${key}" twice`)
  const value = found[0]?.children?.[1]
  if (value !== undefined && value.type !== type) {
    throw new UnreadableError(`has a "${key}" that is not an ${type}`)
  }
  return value
}

/** Those whose id is not in the file yet. */
function missingInputs(root: Node, inputs: NonNullable<Addition['inputs']>): Addition['inputs'] & {} {
  if (inputs.length === 0) return []
  const listed = memberOf(root, 'inputs', 'array')
  const known = listed === undefined ? [] : (getNodeValue(listed) as { id?: unknown }[])
  return inputs.filter(({ id }) => !known.some((input) => input?.id === id))
}

function expected(text: string, name: string, { key, entry, inputs = [] }: Addition): object {
  const value = plainValue(text)
  const missing = missingInputs(parse(text), inputs)
  value[key] = { ...(value[key] as object | undefined), [name]: entry }
  if (missing.length > 0) value.inputs = [...((value.inputs as unknown[] | undefined) ?? []), ...missing]
  return value
}

/** Adds a member to an object, or replaces its value. */
function put(text: string, object: Node, key: string, value: unknown): string {
  const present = (object.children ?? []).filter((property) => property.children?.[0]?.value === key)
  if (present.length > 1) throw new UnreadableError(`has "${key}" twice`)
  const old = present[0]?.children?.[1]
  if (old === undefined) return insert(text, object, `${JSON.stringify(key)}: `, value)
  const rendered = render(text, value, indentAt(text, present[0]!.offset))
  return text.slice(0, old.offset) + rendered + text.slice(old.offset + old.length)
}

function append(text: string, key: string, value: unknown): string {
  const root = parseChanged(text)
  const list = memberOf(root, key, 'array')
  return list === undefined ? put(text, root, key, [value]) : insert(text, list, '', value)
}

/** Adds a last member to an object, or a last item to an array; comments stay where they belong. */
function insert(text: string, container: Node, label: string, value: unknown): string {
  const close = container.offset + container.length - 1
  const last = container.children?.at(-1)
  const outer = indentAt(text, container.offset)
  if (last === undefined) {
    const inner = outer + unitOf(text)
    const kept = text.slice(container.offset + 1, close).trimEnd()
    const member = `${newline(text)}${inner}${label}${render(text, value, inner)}${newline(text)}${outer}`
    return text.slice(0, container.offset + 1) + kept + member + text.slice(close)
  }
  const end = last.offset + last.length
  const comma = commaAfter(text, end)
  const isOneLine = !text.slice(container.offset, close).includes('\n')
  if (isOneLine) {
    const at = comma ?? end
    return `${text.slice(0, at)}${comma === undefined ? ',' : ''} ${label}${JSON.stringify(value)}${text.slice(at)}`
  }
  const at = commentsAfter(text, comma ?? end)
  const inner = indentAt(text, last.offset)
  const member = `${newline(text)}${inner}${label}${render(text, value, inner)}`
  return comma === undefined
    ? `${text.slice(0, end)},${text.slice(end, at)}${member}${text.slice(at)}`
    : `${text.slice(0, at)}${member},${text.slice(at)}`
}

/** The end of the comma that follows a member, after spaces and comments; undefined if none does. */
function commaAfter(text: string, from: number): number | undefined {
  const scanner = createScanner(text, true)
  scanner.setPosition(from)
  return scanner.scan() === TOKEN.comma ? scanner.getPosition() : undefined
}

/** The end of the comments on the rest of the line; `from` if something else is on it. */
function commentsAfter(text: string, from: number): number {
  const scanner = createScanner(text, false)
  scanner.setPosition(from)
  for (;;) {
    const token = scanner.scan()
    const end = scanner.getTokenOffset()
    if (token === TOKEN.lineBreak) return end
    const isComment = token === TOKEN.lineComment || token === TOKEN.blockComment
    if (token !== TOKEN.space && !(isComment && !/[\r\n]/.test(scanner.getTokenValue()))) return from
  }
}

function render(text: string, value: unknown, indent: string): string {
  return JSON.stringify(value, null, unitOf(text)).replaceAll('\n', newline(text) + indent)
}

function newline(text: string): string {
  return text.includes('\r\n') ? '\r\n' : '\n'
}

/** One level of the file's own indentation. */
function unitOf(text: string): string {
  return /^([ \t]+)["{[]/m.exec(text)?.[1] ?? '  '
}

function indentAt(text: string, offset: number): string {
  const line = text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset)
  return /^[ \t]*/.exec(line)![0]
}
