/** The part of URI templates (RFC 6570) that resource templates use: every operator, without prefixes and lists. */

const EXPRESSION = /\{([+#./;?&]?)([\w.%,*:-]{1,500})\}/g

/** The names of the variables, each once. */
export function variablesOf(template: string): string[] {
  const names = [...template.matchAll(EXPRESSION)].flatMap(([, , list]) => namesIn(list!))
  return [...new Set(names)].slice(0, 100)
}

/** Variables without a value are omitted. */
export function expand(template: string, values: ReadonlyMap<string, string>): string {
  return template.replaceAll(EXPRESSION, (_, operator: string, list: string) => {
    const isNamed = ['?', '&', ';'].includes(operator)
    const isOpen = ['+', '#'].includes(operator)
    const parts = namesIn(list).flatMap((name) => {
      const value = values.get(name)
      if (value === undefined || value === '') return []
      const text = isOpen ? encodeURI(value) : encodeURIComponent(value)
      return [isNamed ? `${name}=${text}` : text]
    })
    const first = operator === '+' ? '' : operator
    const between = { '': ',', '+': ',', '#': ',', '?': '&' }[operator] ?? operator
    return parts.length === 0 ? '' : first + parts.join(between)
  })
}

function namesIn(list: string): string[] {
  return list.split(',').map((name) => name.replace(/(?:\*|:\d+)$/, ''))
}
