/** Which bodies are read: JSON (RFC 8259 §8.1) or forms, in UTF-8 and as they are. */

const UTF_8 = ['utf-8', 'utf8', '"utf-8"', '"utf8"']

/**
 * Whether a `Content-Type` is `application/json` without a charset, or with UTF-8 (RFC 9110 §8.3.1). A charset that cannot be parsed is
 * another one. Other parameters are ignored.
 */
export function isJson(contentType: string | null): boolean {
  return contentType === 'application/json' || isInUtf8(contentType, 'application/json')
}

/** The same, or a type with the suffix `+json` (RFC 6839 §3.1), such as `application/jwk-set+json`. */
export function isJsonOfAnyType(contentType: string | null): boolean {
  const essence = (contentType ?? '').split(';')[0]!.trim().toLowerCase()
  return /^application\/(?:[\w!#$&^.+-]{1,100}\+)?json$/.test(essence) && isInUtf8(contentType, essence)
}

/** The same for `application/x-www-form-urlencoded`. */
export function isForm(contentType: string | null): boolean {
  return isInUtf8(contentType, 'application/x-www-form-urlencoded')
}

/** Whether a `Content-Encoding` leaves the body as it is (RFC 9110 §8.4). */
export function isUnencoded(contentEncoding: string | null): boolean {
  return contentEncoding === null || contentEncoding.trim().toLowerCase() === 'identity'
}

function isInUtf8(contentType: string | null, type: string): boolean {
  const [essence = '', ...parameters] = (contentType ?? '').toLowerCase().split(';')
  return essence.trim() === type && parameters.every(isUtf8)
}

/** A parameter that names no other charset. */
function isUtf8(parameter: string): boolean {
  const [name = '', ...value] = parameter.split('=')
  return (
    !name.trim().startsWith('charset') ||
    (name.trim() === 'charset' && UTF_8.includes(value.join('=').trim()))
  )
}
