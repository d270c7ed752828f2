/** The variables of an RFC 6570 URI template: all that a server needs of one before a URI is compared with it. */

/** With what is between its braces. */
export const EXPRESSION = /\{([^{}]*)\}/g

/** The characters that an expression may begin with. */
const OPERATOR = /^[+#./;?&]/

/**
 * The names in the order of the template.
 *
 * @throws TypeError for an unclosed or empty expression, or a variable named twice.
 */
export function templateVariables(template: string): string[] {
  const variables: string[] = []
  const literals = template.replace(EXPRESSION, (_all, expression: string) => {
    for (const item of expression.replace(OPERATOR, '').split(',')) {
      const variable = variableOf(item)
      if (!/^[\w.%-]+$/.test(variable))
        throw new TypeError(
          `URI template ${template} has an expression that is not RFC 6570: {${expression}}.`,
        )
      variables.push(variable)
    }
    return ''
  })
  if (/[{}]/.test(literals)) throw new TypeError(`URI template ${template} has an unmatched brace.`)
  if (new Set(variables).size !== variables.length)
    throw new TypeError(`URI template ${template} names a variable twice.`)
  return variables
}

/** The name in an item of an expression, without its modifier. */
export function variableOf(item: string): string {
  return item.trim().replace(/(\*|:\d+)$/, '')
}
