/** docs/troubleshooting.md quotes messages as the code writes them; those of the official SDK as the installed SDK does. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')
const page = readFileSync(join(ROOT, 'docs/troubleshooting.md'), 'utf8')

/** Of other programs, whose code is not here. */
const OTHERS = '## What clients say'
const SDK = 'Of the official SDK'

const ours = messagesIn(page.slice(0, page.indexOf(OTHERS)))
const sdk = messagesIn(page.slice(page.indexOf(SDK)))

/** An entry begins with the message, or with several. */
function messagesIn(text: string): string[] {
  return Array.from(
    text.matchAll(/^- (?:\d{3}(?: or \d{3})? )?((?:`[^`]+`,? ?)+)/gm),
    ([, quoted]) => quoted!,
  ).flatMap((quoted) => Array.from(quoted.matchAll(/`([^`]+)`/g), ([, message]) => message!))
}

/** Every string and template of these files, with `…` for each value in it. */
function stringsIn(pattern: string): string[] {
  return globSync(pattern, { cwd: ROOT }).flatMap((file) => {
    const text = readFileSync(join(ROOT, file), 'utf8')
    const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
    const found: string[] = []
    const visit = (node: ts.Node): void => {
      if (ts.isStringLiteralLike(node)) found.push(node.text)
      if (ts.isTemplateExpression(node))
        found.push([node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join('…'))
      ts.forEachChild(node, visit)
    }
    visit(source)
    return found
  })
}

/** A `…` of the page may cover more than a value. */
function isWritten(message: string, strings: readonly string[]): boolean {
  const parts = message.split('…').map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`))
  const pattern = new RegExp(parts.join('.{0,80}'))
  return strings.some((text) => pattern.test(text))
}

const strings = stringsIn('{src,adapters,deploy}/**/*.ts')
const sdkStrings = stringsIn('node_modules/@modelcontextprotocol/{client,sdk}/dist/**/*.{mjs,js}')

it('quotes many messages, each with a part that is long enough to be found', () => {
  expect(ours.length).toBeGreaterThan(50)
  expect(sdk.length).toBeGreaterThan(8)
  for (const message of [...ours, ...sdk])
    expect(Math.max(...message.split('…').map(({ length }) => length)), message).toBeGreaterThan(8)
})

it('quotes no message twice', () => {
  expect(ours.filter((message, at) => ours.indexOf(message) !== at)).toEqual([])
})

describe('in the code:', () => {
  it.each(ours)('%s', (message) => {
    expect(isWritten(message, strings)).toBe(true)
  })

  it('a message that was changed is noticed', () => {
    expect(isWritten('"tools" is an array', strings)).toBe(false)
    expect(isWritten('port … is taken', strings)).toBe(false)
  })
})

describe('in the official SDK:', () => {
  it.each(sdk)('%s', (message) => {
    expect(isWritten(message, sdkStrings)).toBe(true)
  })
})
