/**
 * The calls in the sources that may have to be awaited and whose code is behind a type: user code, stores, clients of databases, and our own
 * implementations of an interface. Found by the type checker.
 */
import { posix, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** `MCPClient` and the test client wait within a time limit of their own, which is tested in test/unit/client. */
const OTHER_SIDE = /^src\/(?:client|testing|mastra-client)[./]/

const NAMED = [
  ts.isInterfaceDeclaration,
  ts.isTypeAliasDeclaration,
  ts.isPropertySignature,
  ts.isMethodSignature,
  ts.isFunctionDeclaration,
  ts.isParameter,
  ts.isPropertyDeclaration,
  ts.isMethodDeclaration,
  ts.isVariableDeclaration,
]

/** By file, `Interface.member` or `function.parameter` of what is called. */
export function findAwaited(): string[] {
  const { config } = ts.readConfigFile(`${ROOT}tsconfig.json`, ts.sys.readFile)
  const { fileNames, options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT)
  const program = ts.createProgram(fileNames.filter(isSource), { ...options, noEmit: true })
  const checker = program.getTypeChecker()
  const found = new Set<string>()
  const visit = (node: ts.Node): void => {
    const called = ts.isCallExpression(node) ? seamOf(node, checker) : undefined
    if (called !== undefined) found.add(called)
    ts.forEachChild(node, visit)
  }
  for (const file of program.getSourceFiles()) if (isSource(file.fileName)) visit(file)
  return [...found].sort()
}

/** Undefined for a call of a function whose code is known, and for one that returns no promise. */
function seamOf(call: ts.CallExpression, checker: ts.TypeChecker): string | undefined {
  const signature = checker.getResolvedSignature(call)
  const declaration = signature?.declaration
  if (signature === undefined || declaration === undefined) return undefined
  const file = declaration.getSourceFile().fileName
  const hasCode = 'body' in declaration && declaration.body !== undefined
  if (hasCode || !isSource(file) || !mayBePromise(checker.getReturnTypeOfSignature(signature)))
    return undefined
  return `${pathOf(file)} ${nameOf(declaration)}`
}

function mayBePromise(type: ts.Type): boolean {
  if (type.flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown | ts.TypeFlags.TypeParameter)) return true
  return type.isUnion() ? type.types.some(mayBePromise) : type.getProperty('then') !== undefined
}

function nameOf(declaration: ts.Node): string {
  const names: string[] = []
  for (let node = declaration; !ts.isSourceFile(node); node = node.parent) {
    const isNamed = NAMED.some((is) => is(node))
    const { name } = node as { readonly name?: ts.Node }
    if (isNamed && name !== undefined) names.unshift(name.getText())
  }
  return names.join('.')
}

function isSource(file: string): boolean {
  const path = pathOf(file)
  return /^(?:src|adapters)\//.test(path) && !OTHER_SIDE.test(path)
}

function pathOf(file: string): string {
  return relative(ROOT, file).split(sep).join(posix.sep)
}
