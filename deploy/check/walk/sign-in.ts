/** What the authorization server's metadata must offer to a client: PKCE, and a refresh token. */
import type { RequirePkce } from '../clients/profile.ts'
import type { JsonObject } from '../messages.ts'
import { degrades, skipped, works, wrong } from '../outcome.ts'
import { cite, quote } from '../safe-text.ts'
import type { Stepped, Trail } from './trail.ts'

const METHODS = 'code_challenge_methods_supported'

export function requirePkce({ absent }: RequirePkce, { server = {} }: Trail): Stepped {
  const methods = server[METHODS]
  const fix = `support PKCE with S256 and list it: "${METHODS}": ["S256"]`
  if (Array.isArray(methods) && methods.includes('S256')) return { outcome: works('S256') }
  if (methods !== undefined) return { outcome: wrong(`${METHODS} is ${quote(methods)}, without S256`, fix) }
  return {
    outcome:
      absent === 'stop'
        ? wrong(`${METHODS} is missing, which it treats as "no PKCE"`, fix)
        : degrades(`${METHODS} is missing: some versions of it stop here, others assume S256`, fix),
  }
}

/** Whether the servers offer what a refresh token needs. OpenID Connect issues one only for the scope `offline_access`. */
export function refresh({ server, resource = {}, challenge }: Trail): Stepped {
  if (server === undefined) return { outcome: skipped('no authorization server metadata') }
  const grants = textsIn(server, 'grant_types_supported')
  if (grants.length > 0 && !grants.includes('refresh_token'))
    return {
      outcome: degrades(
        `grant_types_supported is ${cite(grants.join(', '))}: its users sign in again whenever a token expires`,
        'issue refresh tokens, and list refresh_token in grant_types_supported',
      ),
    }
  const offered = [
    ...textsIn(server, 'scopes_supported'),
    ...textsIn(resource, 'scopes_supported'),
    ...(challenge?.scopes ?? []),
  ]
  if (offered.includes('openid') && !offered.includes('offline_access'))
    return {
      outcome: degrades(
        'the scope offline_access is not offered, so it does not request a refresh token',
        'list offline_access in scopes_supported of the authorization server, or if you cannot, in the challenge (scopeHints)',
      ),
    }
  return {
    outcome: works(offered.includes('offline_access') ? 'by offline_access' : 'nothing prevents it'),
  }
}

function textsIn(document: JsonObject, name: string): string[] {
  const value = document[name]
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []
}
