/**
 * Makes the mutants of source files: Stryker's instrumenter writes all of them into the code, each behind a switch, so that one
 * build serves every run.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Instrumenter } from '@stryker-mutator/instrumenter'
import ts from 'typescript'
import { type Identity, keyOf, ROOT } from './identity.ts'

export interface Mutant extends Identity {
  readonly id: string
  readonly lineNumber: number
  readonly mutator: string
}

export interface Mutants {
  readonly mutants: readonly Mutant[]
  /** How many were not made, because they would change prose. */
  readonly ignored: number
  /** Code with the switches, by absolute path. */
  readonly code: { readonly [path: string]: string }
}

/**
 * Three words in a row: a sentence for people. Such texts and texts of errors are not mutated: tests match codes, and the wording
 * of a message may change at any time.
 */
const PROSE = /["'`]?[a-z]+["'`]?,? [a-z]+,? ["'`]?[a-z\d]+/i

/** Longer code is cut in a mutant's identity. */
const LONG = 120

const SILENT = {
  isTraceEnabled: () => false,
  isDebugEnabled: () => false,
  isInfoEnabled: () => false,
  isWarnEnabled: () => false,
  isErrorEnabled: () => false,
  isFatalEnabled: () => false,
  trace: () => {},
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  fatal: () => {},
}

/** The used part of babel's `NodePath`; Stryker types it as an empty interface. */
interface Path {
  readonly node: {
    readonly type: string
    readonly value?: unknown
    readonly quasis?: readonly { readonly value: { readonly raw: string } }[]
  }
  readonly parent: { readonly type: string; readonly callee?: { readonly name?: string } } | null
}

const proseIgnorer = {
  shouldIgnore(path: object): string | undefined {
    const { node, parent } = path as Path
    const { type, value, quasis } = node
    if (type !== 'StringLiteral' && type !== 'TemplateLiteral') return undefined
    if (parent?.type === 'NewExpression' && parent.callee?.name?.endsWith('Error')) return 'message'
    const text = type === 'StringLiteral' ? String(value) : quasis!.map(({ value }) => value.raw).join('x')
    return PROSE.test(text) ? 'prose' : undefined
  },
}

/** @param files Paths under the root. */
export async function makeMutants(files: readonly string[]): Promise<Mutants> {
  const contents = new Map(files.map((file) => [join(ROOT, file), readFileSync(join(ROOT, file), 'utf8')]))
  const { files: instrumented, mutants } = await new Instrumenter(SILENT).instrument(
    [...contents].map(([name, content]) => ({ name, content, mutate: true })),
    { plugins: null, excludedMutations: [], ignorers: [proseIgnorer] },
  )
  const sources = new Map(
    [...contents].map(([name, content]) => [
      name,
      ts.createSourceFile(name, content, ts.ScriptTarget.ES2022, true),
    ]),
  )
  const made = mutants.filter(({ status }) => status !== 'Ignored')
  const seen = new Map<string, number>()
  return {
    mutants: made.map(({ id, fileName, location, mutatorName, replacement }) => {
      const source = sources.get(fileName)!
      const start = source.getPositionOfLineAndCharacter(location.start.line, location.start.column)
      const end = source.getPositionOfLineAndCharacter(location.end.line, location.end.column)
      const identity = {
        file: fileName.slice(ROOT.length + 1),
        within: enclosing(source, start),
        line: source.text.split('\n')[location.start.line]!.trim(),
        original: shorten(source.text.slice(start, end)),
        replacement: shorten(replacement),
      }
      const nth = (seen.get(keyOf(identity)) ?? 0) + 1
      seen.set(keyOf(identity), nth)
      return {
        id,
        ...identity,
        ...(nth > 1 && { nth }),
        lineNumber: location.start.line + 1,
        mutator: mutatorName,
      }
    }),
    ignored: mutants.length - made.length,
    code: Object.fromEntries(instrumented.map(({ name, content }) => [name, content])),
  }
}

function shorten(code: string): string {
  const text = code.replaceAll(/\s+/g, ' ')
  return text.length <= LONG ? text : `${text.slice(0, 70)} … ${text.slice(-40)}`
}

function enclosing(source: ts.SourceFile, position: number): string {
  let name = ''
  const visit = (node: ts.Node): void => {
    if (position < node.getStart() || position >= node.getEnd()) return
    if (ts.isFunctionLike(node) || ts.isClassDeclaration(node)) name = nameOf(node) ?? name
    ts.forEachChild(node, visit)
  }
  visit(source)
  return name
}

function nameOf(node: ts.SignatureDeclaration | ts.ClassDeclaration): string | undefined {
  if (ts.isConstructorDeclaration(node)) return 'constructor'
  if (node.name) return node.name.getText()
  const { parent } = node
  return ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent)
    ? parent.name.getText()
    : undefined
}
