/** Sign-in with Google: `google({ clientId, clientSecret, hostedDomain? })`. */
import { type Names, requireOptions } from '../definition/unknown-option.ts'
import { PROVIDER_OPTIONS, type ProviderOptions, promptOf, requestLimits } from './oidc.ts'
import { notAllowed } from './upstream/errors.ts'
import { createOpenId } from './upstream/openid.ts'
import { checkSettings, readSetting, refuseUndefined, SETTING, type Setting } from './upstream/settings.ts'
import { type Upstream, UpstreamFault } from './upstream/upstream.ts'

export type { ProviderOptions } from './oidc.ts'
export type { Setting } from './upstream/settings.ts'

/** Options of `google`. */
export interface GoogleOptions extends ProviderOptions {
  /** The domain of the organization, such as `example.com`: others are turned away. Default: every Google account may sign in. */
  hostedDomain?: Setting
}

const DOMAIN = /^[\w-]+(?:\.[\w-]+)+$/
const WRONG_DOMAIN = '"hostedDomain" of google must be a domain, such as "example.com".'

const GOOGLE_OPTIONS: Names<GoogleOptions> = { hostedDomain: SETTING, ...PROVIDER_OPTIONS }

/**
 * Lets people sign in with Google. `hostedDomain` is compared with the `hd` of the verified ID token: the address of an email proves no
 * membership. For a refresh token, Google shows its own consent at each sign-in; not with `offlineAccess: false`.
 *
 * ```ts
 * google({ clientId: (env) => env.GOOGLE_ID, clientSecret: (env) => env.GOOGLE_SECRET, hostedDomain: 'example.com' })
 * ```
 *
 * @throws TypeError for an unknown, missing or invalid option.
 */
export function google(options: GoogleOptions): Upstream {
  requireOptions('google', options, GOOGLE_OPTIONS, 'clientId', 'clientSecret')
  const { clientId, clientSecret, hostedDomain, offlineAccess = true } = options
  checkSettings('google', { clientId, clientSecret, hostedDomain })
  refuseUndefined('google', options, 'hostedDomain')
  if (typeof hostedDomain === 'string' && !DOMAIN.test(hostedDomain)) throw new TypeError(WRONG_DOMAIN)
  // Named in the request, too: then Google offers the right accounts.
  const hint = (env: unknown): { hd?: string } => {
    if (hostedDomain === undefined) return {}
    const hd = readSetting('google', 'hostedDomain', hostedDomain, env)
    if (!DOMAIN.test(hd)) throw new UpstreamFault('misconfigured', WRONG_DOMAIN)
    return { hd }
  }
  return createOpenId({
    name: 'Google',
    id: 'google',
    provider: (env) => {
      hint(env)
      return {
        issuer: 'https://accounts.google.com',
        clientId: readSetting('google', 'clientId', clientId, env),
        clientSecret: readSetting('google', 'clientSecret', clientSecret, env),
      }
    },
    scopes: ['openid', 'profile', 'email', ...(options.scopes ?? [])],
    wantsOffline: false,
    parameters: ({ env, isSwitching }) => ({
      ...hint(env),
      // Google's own way; without `consent`, only the first sign-in of a person brings a refresh token.
      ...(offlineAccess && { access_type: 'offline' }),
      ...promptOf(isSwitching && 'select_account', offlineAccess && 'consent'),
    }),
    check: ({ hd }, env) => {
      const domain = hint(env).hd
      if (domain === undefined || (typeof hd === 'string' && asciiLower(hd) === asciiLower(domain))) return
      throw notAllowed(
        `Only accounts of ${domain} may sign in here.`,
        `The ID token has ${typeof hd === 'string' ? 'the "hd" of another domain' : 'no "hd"'}.`,
      )
    },
    ...requestLimits(options),
  })
}

/** Other letters have other cases: `K` in Unicode may be the sign of kelvin. */
function asciiLower(text: string): string {
  return text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())
}
