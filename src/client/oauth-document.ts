/** Makes an authorization server's errors safe to print, since the official client writes them to the console unchanged. */
import { printable } from './printable.ts'

/** Maximum characters of an error's code, and of its description. */
const MAX_CODE = 100
const MAX_TEXT = 300

/** A document of an authorization server, with error strings made safe by `printable`. Other documents are unchanged. */
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
