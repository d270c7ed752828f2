/** Whether the client accepts the URL from its user. */
import { reachOf } from '../../../src/request/address.ts'
import { isLocalHost } from '../addresses.ts'
import type { Reach } from '../clients/profile.ts'
import { DEPLOYED, untried, works, wrong } from '../outcome.ts'
import type { Stepped, Trail } from './trail.ts'

export function reach({ isHosted, removesSlash }: Reach, { url }: Trail): Stepped {
  const entered = removesSlash ? withoutSlash(url) : url
  const found = { url: entered }
  const isLocal = isLocalHost(url.hostname)
  const isPrivate = !isLocal && reachOf(url.hostname) !== 'public'
  if (isHosted && !isLocal && !isPrivate && url.protocol !== 'https:')
    return {
      found,
      outcome: wrong(
        'the URL is not https, which it does not accept',
        'serve it with TLS, and publish that URL',
      ),
    }
  if (isHosted && (isLocal || isPrivate))
    return {
      found,
      outcome: untried(
        `a ${isLocal ? 'local' : 'private'} host: it only reaches public https URLs`,
        `${DEPLOYED} URL`,
      ),
    }
  return {
    found,
    outcome: works(entered.href === url.href ? 'as it is' : 'without the trailing slash, which it removes'),
  }
}

function withoutSlash(url: URL): URL {
  const entered = new URL(url)
  // A root URL always has a slash.
  while (entered.pathname.length > 1 && entered.pathname.endsWith('/'))
    entered.pathname = entered.pathname.slice(0, -1)
  return entered
}
