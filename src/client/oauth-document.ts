/**
 * Makes the documents of an authorization server safe to print, since the official client writes errors to the console unchanged, and
 * quotes documents that it cannot read.
 */
import { printable } from './printable.ts'
import type { Secrets } from './secrets.ts'

/** Maximum characters of an error's code, and of its description. */
const MAX_CODE = 100
const MAX_TEXT = 300
/** Instead of a document that cannot be read: it may have tokens, as one that is a form. */
const UNREADABLE = 'The document is not JSON as in RFC 6749.'

/** A document of an authorization server: its error strings without secrets and control characters. Other documents are unchanged. */
export function printableDocument(text: string, isOk: boolean, secrets: Secrets): string {
  const parsed = parseObject(text)
  if (parsed === undefined) return UNREADABLE
  secrets.learnFrom(parsed)
  // RFC 6749 §5.2; some servers send it with status 200.
  const { error, error_description, error_uri: _uri, ...others } = parsed
  if (error === undefined && isOk) return text
  if (typeof error !== 'string') return isOk ? JSON.stringify(others) : UNREADABLE
  return JSON.stringify({
    ...(isOk && others),
    error: printable(secrets.hide(error), MAX_CODE),
    ...(typeof error_description === 'string' && {
      error_description: printable(secrets.hide(error_description), MAX_TEXT),
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
