/** Which bodies are read: JSON in UTF-8 (RFC 8259 §8.1). */

const UTF_8 = ['utf-8', 'utf8', '"utf-8"', '"utf8"']

/**
 * Whether a `Content-Type` is `application/json` without a charset, or with UTF-8 (RFC 9110 §8.3.1). A charset that cannot be parsed is
 * another one. Other parameters are ignored.
 */
export function isJson(contentType: string | null): boolean {
  if (contentType === 'application/json') return true
  const [essence = '', ...parameters] = (contentType ?? '').toLowerCase().split(';')
  return essence.trim() === 'application/json' && parameters.every(isUtf8)
}

/** A parameter that names no other charset. */
function isUtf8(parameter: string): boolean {
  const [name = '', ...value] = parameter.split('=')
  return (
    !name.trim().startsWith('charset') ||
    (name.trim() === 'charset' && UTF_8.includes(value.join('=').trim()))
  )
}
