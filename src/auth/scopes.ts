/** Scopes as text with spaces (RFC 8693 §4.2), or as a list. */
export function toScopes(value: unknown): string[] {
  if (typeof value === 'string') return value.split(' ').filter((scope) => scope !== '')
  if (!Array.isArray(value)) return []
  return value.filter((scope): scope is string => typeof scope === 'string')
}
