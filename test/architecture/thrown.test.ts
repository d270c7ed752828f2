/** User code can throw anything, even what cannot be looked at: only the functions of one module look at what was thrown. */
import ts from 'typescript'
import { expect, it } from 'vitest'
import { type Module, parseModule, readModules, walk } from './_modules.ts'

const LOOKS = 'src/definition/error-text.ts'

/** What code may do with a thrown value: pass it on, throw it, or make it a cause. Anything else reads it. */
function isLook(use: ts.Identifier): boolean {
  let node: ts.Node = use
  while (
    ts.isAsExpression(node.parent) ||
    ts.isParenthesizedExpression(node.parent) ||
    ts.isNonNullExpression(node.parent)
  )
    node = node.parent
  const { parent } = node
  if (ts.isPropertyAccessExpression(parent) || ts.isElementAccessExpression(parent))
    return parent.expression === node && !isNarrowed(use)
  if (ts.isBinaryExpression(parent)) {
    const operator = parent.operatorToken.kind
    return (
      operator === ts.SyntaxKind.InstanceOfKeyword ||
      operator === ts.SyntaxKind.InKeyword ||
      operator === ts.SyntaxKind.PlusToken
    )
  }
  if (ts.isVariableDeclaration(parent)) return ts.isObjectBindingPattern(parent.name) && !isNarrowed(use)
  if (ts.isCallExpression(parent)) return parent.expression.getText() === 'String'
  return ts.isTemplateSpan(parent) || ts.isSpreadAssignment(parent) || ts.isSpreadElement(parent)
}

/** Whether `isA(thrown, Class)`, or a function of it, was asked first: the members of that class can be read. */
function isNarrowed(use: ts.Identifier): boolean {
  let scope: ts.Node = use
  while (!ts.isFunctionLike(scope) && !ts.isSourceFile(scope)) scope = scope.parent
  const before = scope.getText().slice(0, use.getStart() - scope.getStart())
  return new RegExp(`\\b(?:isA|isSystemError|isBuildFailure)\\(${use.text}\\b`).test(before)
}

/** The names of thrown values: of `catch`, of what a promise rejects with, and of parameters called an error that may be anything. */
function looksOf({ source }: Module): string[] {
  const found: string[] = []
  const search = (name: ts.BindingName | undefined, within: ts.Node): void => {
    if (name === undefined) return
    if (!ts.isIdentifier(name)) {
      found.push(line(name))
      return
    }
    walk(within, (node) => {
      if (ts.isIdentifier(node) && node.text === name.text && node !== name && isLook(node))
        found.push(line(node))
    })
  }
  const line = (node: ts.Node): string => {
    const { line: at } = source.getLineAndCharacterOfPosition(node.getStart())
    return `${source.fileName}:${at + 1}: ${source.text.split('\n')[at]!.trim()}`
  }
  walk(source, (node) => {
    if (ts.isCatchClause(node)) search(node.variableDeclaration?.name, node.block)
    if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
      const called = node.expression.name.text
      const rejected =
        called === 'catch' ? node.arguments[0] : called === 'then' ? node.arguments[1] : undefined
      if (rejected !== undefined && (ts.isArrowFunction(rejected) || ts.isFunctionExpression(rejected)))
        search(rejected.parameters[0]?.name, rejected.body)
    }
    if (
      ts.isParameter(node) &&
      node.type?.kind === ts.SyntaxKind.UnknownKeyword &&
      node.parent !== undefined
    ) {
      const body = (node.parent as ts.FunctionLikeDeclaration).body
      if (body !== undefined && /^(?:error|cause|thrown|reason|fault)$/.test(node.name.getText()))
        search(node.name, body)
    }
  })
  return [...new Set(found)]
}

it.each(['src', 'adapters', 'deploy'])('%s/ looks at thrown values by one module alone', (folder) => {
  const looks = readModules(folder)
    .filter(({ file }) => file !== LOOKS)
    .flatMap(looksOf)
  expect(looks).toEqual([])
})

it.each([
  'try {} catch (error) { if (error instanceof Error) return }',
  'try {} catch (error) { log(error.message) }',
  'try {} catch (error) { log((error as Error).message) }',
  'try {} catch ({ message }) { log(message) }',
  'try {} catch (error) { const { message } = error as Error }',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the code under test.
  'try {} catch (error) { log(`${error}`) }',
  'try {} catch (error) { log(String(error)) }',
  "try {} catch (error) { if ('code' in error) return }",
  'work().catch((error) => log(error?.code))',
  'work().then(done, (error) => log(error.code))',
  'work().catch(({ message }) => log(message))',
  'function report(cause: unknown) { return { ...cause } }',
])('is found: %s', (text) => {
  expect(looksOf(parseModule('one.ts', text))).toHaveLength(1)
})

it.each([
  'try {} catch (error) { throw error }',
  'try {} catch (error) { report(error, textOf(error)) }',
  'try {} catch (cause) { throw new TypeError(textOf(cause), { cause }) }',
  'try {} catch (error) { if (isA(error, ProtocolError)) return error.code }',
])('is not: %s', (text) => {
  expect(looksOf(parseModule('one.ts', text))).toEqual([])
})
