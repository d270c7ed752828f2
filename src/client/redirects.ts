/**
 * Redirects of an endpoint within its origin. The official client follows them for every message, and so would repeat a call that its
 * server ran before it answered. Here all other messages are followed, and calls go directly to where those were redirected.
 */
import { isOwn } from './allowed-urls.ts'

export interface Redirects {
  /** Where to send a request for this URL. */
  targetOf(url: URL): URL
  /** The response that the official client may see. */
  noted(url: URL, body: unknown, response: Response): Response
}

const NOT_FOLLOWED =
  'Redirect not followed: the server may have run the call, which is sent once. The next call goes to the new address.'

export function createRedirects(server: URL): Redirects {
  let moved: URL | undefined
  return {
    targetOf: (url) => (url.href === server.href && moved !== undefined ? moved : url),
    noted(url, body, response) {
      const { status } = response
      const isEndpoint = url.href === server.href || url.href === moved?.href
      if (isEndpoint && (status === 404 || status === 410)) moved = undefined
      const target = redirectOf(response, url)
      if (target === undefined || !isOwn(target, server)) return response
      if (isEndpoint) moved = target
      if (!isCall(body)) return response
      response.body?.cancel().catch(() => {})
      return new Response(NOT_FOLLOWED, { status })
    },
  }
}

/** The target of a redirect that keeps the method (RFC 9110 §15.4.8, §15.4.9). */
function redirectOf({ status, headers }: Response, url: URL): URL | undefined {
  const location = status === 307 || status === 308 ? headers.get('location') : null
  if (location === null || !URL.canParse(location, url)) return undefined
  const target = new URL(location, url)
  target.hash = ''
  return target.username === '' && target.password === '' ? target : undefined
}

/** The official client writes the body, where nothing else has these characters but an object named so. */
function isCall(body: unknown): boolean {
  return typeof body === 'string' && body.includes('"method":"tools/call"')
}
