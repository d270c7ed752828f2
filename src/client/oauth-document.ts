/** Makes safe to print what an authorization server says of an error: the official client writes it to the console as it is. */
import { printable } from './printable.ts'

/** Maximum characters of an error's code, and of a text about it. */
const MAX_CODE = 100
const MAX_TEXT = 300

/** A document of an authorization server, with texts about errors as `printable` leaves them. A document of no error is not changed. */
export function printableDocument(text: string, isOk: boolean): string {
  const parsed = parseObject(text)
  // The official client quotes documents that it cannot read.
  if (parsed === undefined) return printable(text, MAX_TEXT)
  // RFC 6749 §5.2; some servers send it with status 200.
  const { error, error_description, error_uri: _uri, ...others } = parsed
  if (error === undefined && isOk) return text
  if (typeof error !== 'string') return isOk ? JSON.stringify(others) : printable(text, MAX_TEXT)
  return JSON.stringify({
    ...(isOk && others),
    error: printable(error, MAX_CODE),
    ...(typeof error_description === 'string' && {
      error_description: printable(error_description, MAX_TEXT),
    }),
  })
}

function parseObject(text: string): { readonly [name: string]: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text)
    if (value !== null && typeof value === 'object' && !Array.isArray(value))
      return value as { readonly [name: string]: unknown }
  } catch {
    // No JSON.
  }
  return undefined
}
