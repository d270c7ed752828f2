/**
 * Lets bundlers of users' code leave out what they do not use. Each source file has no side effects, as package.json says, so bundlers leave
 * out the files of which nothing is used. A file in dist has many of them, so each of their statements has to say the same: a constant whose
 * value is computed is marked as pure.
 */

/** Adds the marks to a module, for rolldown's `transform`. */
export function withPureConstants(program, magicString) {
  for (const statement of program.body) {
    const declaration = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement
    if (declaration?.type !== 'VariableDeclaration' || declaration.declare) continue
    for (const { init } of declaration.declarations) {
      if (init === null || isInert(init)) continue
      if (/^(?:Call|New)Expression$/.test(init.type) && init.arguments.every(isInert) && isInert(init.callee))
        magicString.appendLeft(init.start, '/* @__PURE__ */ ')
      else {
        magicString.appendLeft(init.start, '/* @__PURE__ */ (() => (')
        magicString.appendRight(init.end, '))()')
      }
    }
  }
  return magicString
}

const INERT = new Set([
  'ArrowFunctionExpression',
  'FunctionExpression',
  'Identifier',
  'Literal',
  'MetaProperty',
])

/** Whether bundlers see by themselves that evaluating it does nothing. */
function isInert(node) {
  if (node === null || INERT.has(node.type)) return true
  switch (node.type) {
    case 'TSAsExpression':
    case 'TSSatisfiesExpression':
    case 'TSNonNullExpression':
    case 'ParenthesizedExpression':
      return isInert(node.expression)
    case 'ArrayExpression':
      return node.elements.every((one) => one?.type !== 'SpreadElement' && isInert(one))
    case 'ObjectExpression':
      return node.properties.every(
        (one) =>
          one.type === 'Property' && (!one.computed || one.key.type === 'Literal') && isInert(one.value),
      )
    case 'TemplateLiteral':
      return node.expressions.length === 0
    case 'UnaryExpression':
      return isInert(node.argument)
    case 'BinaryExpression':
      return node.left.type === 'Literal' && node.right.type === 'Literal'
    default:
      return false
  }
}
