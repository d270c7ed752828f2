/** The media type of an answer: its `Content-Type` without parameters. */

export function essence(headers: Headers): string {
  return (headers.get('content-type') ?? '').split(';')[0]!.trim().toLowerCase()
}

export function isStream(headers: Headers): boolean {
  return essence(headers) === 'text/event-stream'
}

export function isJson(headers: Headers): boolean {
  return essence(headers) === 'application/json'
}

/** The parameter, or empty. */
export function charsetOf(headers: Headers): string {
  const type = headers.get('content-type') ?? ''
  const [, quoted, bare] = /;\s*charset\s*=\s*(?:"([^"]*)"|([^\s;,]*))/i.exec(type) ?? []
  return quoted ?? bare ?? ''
}
