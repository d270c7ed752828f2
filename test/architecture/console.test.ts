/** `console.error(error)` throws for an error that cannot be examined, and in a `catch` that ends the process: one module prints errors. */
import ts from 'typescript'
import { expect, it } from 'vitest'
import { type Module, parseModule, placeOf, readModules, walk } from './_modules.ts'

const PRINTS = 'src/definition/print-error.ts'

/** What may be printed: a text that is written out, or made by one of these. */
const SAFE = new Set(['toJsonLine', 'printable'])

function isSafe(printed: ts.Expression): boolean {
  if (ts.isStringLiteralLike(printed)) return true
  return ts.isCallExpression(printed) && SAFE.has(printed.expression.getText())
}

/** Uses of the console besides calls with a safe text. */
function printsOf({ file, source }: Module): string[] {
  if (file === PRINTS) return []
  const found: string[] = []
  walk(source, (node) => {
    if (!ts.isIdentifier(node) || node.text !== 'console') return
    const { parent } = node
    if (ts.isPropertyAccessExpression(parent) && parent.name === node) return
    const call = parent.parent
    const isCall = ts.isPropertyAccessExpression(parent) && ts.isCallExpression(call)
    if (!isCall || call.expression !== parent || !call.arguments.every(isSafe)) found.push(placeOf(node))
  })
  return found
}

it.each(['src', 'adapters', 'deploy'])('%s/ prints errors by one module alone', (folder) => {
  expect(readModules(folder).flatMap(printsOf)).toEqual([])
})

it('nor does a program written for a platform', () => {
  const texts = readModules('deploy').flatMap(({ file, text }) =>
    [...text.matchAll(/catch\(console\.\w+\)|catch\s*\((\w+)\)\s*\{\s*console\.\w+\(\1\)/g)].map(() => file),
  )
  expect(texts).toEqual([])
})

it.each([
  'work.catch(console.error)',
  'console.error(error)',
  "console.error('failed', error)",
  'console.warn(error.message)',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the code under test.
  'console.log(`failed: ${error}`)',
  'const { error } = console',
  "console['error'](error)",
  'globalThis.report = console',
])('is found: %s', (text) => {
  expect(printsOf(parseModule('one.ts', text))).toHaveLength(1)
})

it.each([
  "console.error('failed')",
  'console.log(toJsonLine(entry))',
  'print(config.console)',
  'printError(error)',
])('is not: %s', (text) => {
  expect(printsOf(parseModule('one.ts', text))).toEqual([])
})
