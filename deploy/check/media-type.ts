/** The kind of an answer, by its `Content-Type` without parameters. */

export function essence(headers: Headers): string {
  return (headers.get('content-type') ?? '').split(';')[0]!.trim().toLowerCase()
}

export function isStream(headers: Headers): boolean {
  return essence(headers) === 'text/event-stream'
}

export function isJson(headers: Headers): boolean {
  return essence(headers) === 'application/json'
}
