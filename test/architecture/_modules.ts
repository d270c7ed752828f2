/** The modules of the repository as the TypeScript parser sees them: what each imports, and its syntax tree. */
import { globSync, readFileSync } from 'node:fs'
import { posix, sep } from 'node:path'
import ts from 'typescript'

const ROOT = new URL('../../', import.meta.url)

export interface Import {
  readonly specifier: string
  /** The imported file, from the root of the repository; undefined for a package. */
  readonly file: string | undefined
}

export interface Module {
  /** From the root of the repository, such as `src/server.ts`. */
  readonly file: string
  readonly text: string
  readonly source: ts.SourceFile
  readonly imports: readonly Import[]
}

export function readModules(folder: string): Module[] {
  const files = globSync(`${folder}/**/*.ts`, { cwd: ROOT }).map((file) => file.replaceAll(sep, '/'))
  return files.sort().map(readModule)
}

function readModule(file: string): Module {
  const text = readFileSync(new URL(file, ROOT), 'utf8')
  return parseModule(file, text)
}

export function parseModule(file: string, text: string): Module {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
  const imports: Import[] = []
  const add = (specifier: string): void => {
    const target = specifier.startsWith('.') ? posix.join(posix.dirname(file), specifier) : undefined
    imports.push({ specifier, file: target })
  }
  walk(source, (node) => {
    if (ts.isImportDeclaration(node)) add(textOf(node.moduleSpecifier))
    else if (ts.isExportDeclaration(node) && node.moduleSpecifier !== undefined) {
      add(textOf(node.moduleSpecifier))
    } else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
      add(textOf(node.argument.literal))
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      add(specifierOf(node.arguments[0]!, source))
    }
  })
  return { file, text, source, imports }
}

/** What `import()` loads, also where that is a constant of the module: bundlers do not follow one. */
function specifierOf(argument: ts.Expression, source: ts.SourceFile): string {
  for (const statement of source.statements) {
    if (!ts.isIdentifier(argument) || !ts.isVariableStatement(statement)) continue
    const { declarations } = statement.declarationList
    const { initializer } = declarations.find(({ name }) => name.getText() === argument.text) ?? {}
    if (initializer !== undefined) return textOf(initializer)
  }
  return textOf(argument)
}

/** Visits a node and all below it; where `visit` returns false, not what is below. */
export function walk(node: ts.Node, visit: (node: ts.Node) => unknown): void {
  if (visit(node) === false) return
  ts.forEachChild(node, (child) => walk(child, visit))
}

function textOf(node: ts.Node): string {
  return ts.isStringLiteralLike(node) ? node.text : node.getText()
}

/** Where a node is, for the message of a failed test. */
export function placeOf(node: ts.Node): string {
  const source = node.getSourceFile()
  const { line } = source.getLineAndCharacterOfPosition(node.getStart())
  return `${source.fileName}:${line + 1}`
}
