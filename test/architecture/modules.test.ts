import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { type Module, parseModule, placeOf, readModules, walk } from './_modules.ts'

/** What may be made while a module loads: edge platforms forbid I/O, time and randomness there, and start-up costs. */
const PURE_CONSTRUCTORS = new Set([
  'Map',
  'Set',
  'WeakMap',
  'WeakSet',
  'RegExp',
  'TextEncoder',
  'TextDecoder',
])
const PURE_CALLS = new Set(['Object.freeze', 'Object.entries', 'Object.fromEntries', 'Object.keys'])

/** Effects and mutable state at the top level of a module. */
function topLevelEffects({ source }: Module): string[] {
  const found: string[] = []
  for (const statement of source.statements) {
    if (isDeclaration(statement)) continue
    if (!ts.isVariableStatement(statement)) {
      found.push(`${placeOf(statement)} runs a statement`)
      continue
    }
    if ((statement.declarationList.flags & ts.NodeFlags.Const) === 0) {
      found.push(`${placeOf(statement)} holds a variable`)
    }
    walk(statement.declarationList, (node) => {
      if (ts.isFunctionLike(node)) return false
      if (isEffect(node, source)) found.push(`${placeOf(node)} runs ${node.getText().slice(0, 40)}`)
      return true
    })
  }
  return found
}

function isDeclaration(statement: ts.Statement): boolean {
  return (
    ts.isImportDeclaration(statement) ||
    ts.isExportDeclaration(statement) ||
    ts.isInterfaceDeclaration(statement) ||
    ts.isTypeAliasDeclaration(statement) ||
    ts.isModuleDeclaration(statement) ||
    ts.isFunctionDeclaration(statement) ||
    (ts.isClassDeclaration(statement) && !hasStaticCode(statement))
  )
}

function hasStaticCode({ members }: ts.ClassDeclaration): boolean {
  return members.some(
    (member) =>
      ts.isClassStaticBlockDeclaration(member) ||
      (ts.isPropertyDeclaration(member) &&
        member.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.StaticKeyword) === true),
  )
}

function isEffect(node: ts.Node, source: ts.SourceFile): boolean {
  if (ts.isNewExpression(node)) return !PURE_CONSTRUCTORS.has(node.expression.getText())
  if (ts.isCallExpression(node)) {
    return !PURE_CALLS.has(node.expression.getText()) && !isDataBuilder(node.expression, source)
  }
  return ts.isAwaitExpression(node) || ts.isTaggedTemplateExpression(node) || ts.isDeleteExpression(node)
}

/** A function of the same module that only puts data together: it calls nothing and assigns nothing. */
function isDataBuilder(callee: ts.Expression, source: ts.SourceFile): boolean {
  let body: ts.Node | undefined
  for (const statement of source.statements) {
    if (!ts.isVariableStatement(statement)) continue
    for (const { name, initializer } of statement.declarationList.declarations) {
      if (name.getText() === callee.getText() && initializer && ts.isArrowFunction(initializer))
        body = initializer.body
    }
  }
  if (body === undefined) return false
  let isPure = true
  walk(body, (node) => {
    if (ts.isCallExpression(node) || ts.isNewExpression(node) || ts.isAwaitExpression(node)) isPure = false
    if (ts.isBinaryExpression(node) && isAssignment(node.operatorToken.kind)) isPure = false
  })
  return isPure
}

const isAssignment = (kind: ts.SyntaxKind): boolean =>
  kind >= ts.SyntaxKind.FirstAssignment && kind <= ts.SyntaxKind.LastAssignment

/** Lines that are neither blank nor comment. */
function codeLines({ source, text }: Module): number {
  const lines = new Set<number>()
  walk(source, (node) => {
    if (node.getChildCount() > 0) return
    const first = source.getLineAndCharacterOfPosition(node.getStart()).line
    const last = source.getLineAndCharacterOfPosition(node.getEnd()).line
    for (let line = first; line <= last; line++) if (text.split('\n')[line]?.trim() !== '') lines.add(line)
  })
  return lines.size
}

describe('loading a module', () => {
  it('of src or adapters runs nothing and holds no state', () => {
    expect([...readModules('src'), ...readModules('adapters')].flatMap(topLevelEffects)).toEqual([])
  })

  it.each([
    `console.log('loaded')`,
    `let count = 0`,
    `const startedAt = Date.now()`,
    `const id = crypto.randomUUID()`,
    `const cache = new AbortController()`,
    `const value = await load()`,
    `class A { static count = start() }`,
    `if (true) start()`,
    `const start = () => fetch('x'); const started = start()`,
  ])('%s is seen', (code) => {
    expect(topLevelEffects(parseModule('src/bad.ts', code))).not.toEqual([])
  })

  it.each([
    `const names = new Map(Object.entries({ a: 1 }))`,
    `const pair = (a: number) => ({ a, b: a }); const one = pair(1)`,
    `export const now = () => Date.now()`,
    `export class A { readonly #id = crypto.randomUUID() }`,
    `const pattern = /x/g`,
  ])('%s is none', (code) => {
    expect(topLevelEffects(parseModule('src/good.ts', code))).toEqual([])
  })
})

/** Objects that are made once for a server, a process or a session. */
const MADE_ONCE = [
  'src/keys/audience.ts fault',
  'src/protocol/session.ts id',
  'src/extension/join.ts hidesTools',
  'src/tasks/tasks.ts hidesTools',
  'src/tasks/store-time.ts offsetMs',
  'adapters/_node/key-file.ts fault',
  'adapters/_node/session-registry.ts size',
  'adapters/_node/sessions.ts tasks',
  'adapters/_node/sessions.ts size',
  'adapters/nats.ts lost',
  'adapters/nats.ts refusals',
  'adapters/nats.ts refused',
]

/**
 * Getters of object literals. Each such object has a hidden class of its own, which lives in the old generation of V8's heap and keeps
 * the object until a full collection: made for each call, they once cost a fifth of its time. A class has its getters on its prototype.
 */
function literalGetters({ file, source }: Module): string[] {
  const found: string[] = []
  walk(source, (node) => {
    if (ts.isGetAccessor(node) && ts.isObjectLiteralExpression(node.parent))
      found.push(`${file} ${node.name.getText()}`)
  })
  return found
}

describe('an object that is made for each call', () => {
  it('has no getter of its own', () => {
    const found = [...readModules('src'), ...readModules('adapters')].flatMap(literalGetters)

    expect(found.toSorted()).toEqual(MADE_ONCE.toSorted())
  })
})

describe('an adapter', () => {
  it.each(readModules('adapters').map((module) => [module.file, module] as const))(
    '%s is thin: under 150 lines of code',
    (_file, module) => {
      expect(codeLines(module)).toBeLessThan(150)
    },
  )
})
