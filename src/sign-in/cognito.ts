/** Sign-in with a user pool of Amazon Cognito: `cognito({ region, userPoolId, clientId, clientSecret })`. */
import { type Names, requireOptions } from '../definition/unknown-option.ts'
import { PROVIDER_OPTIONS, type ProviderOptions, promptOf, requestLimits } from './oidc.ts'
import { notAllowed } from './upstream/errors.ts'
import { createOpenId } from './upstream/openid.ts'
import { checkSettings, readSetting, refuseUndefined, SETTING, type Setting } from './upstream/settings.ts'
import { type Upstream, UpstreamFault } from './upstream/upstream.ts'

export type { ProviderOptions } from './oidc.ts'
export type { Setting } from './upstream/settings.ts'

/** Options of `cognito`. */
export interface CognitoOptions extends Omit<ProviderOptions, 'offlineAccess'> {
  /** Such as `eu-west-1`. */
  region: Setting
  /** Such as `eu-west-1_AbCdEf123`. */
  userPoolId: Setting
  /** For people, on the pages. Default `Amazon Cognito`. */
  name?: string
  /** Names of the pool's groups, of which a person needs one. Default: none. */
  groups?: readonly string[]
}

const { offlineAccess: _, ...shared } = PROVIDER_OPTIONS
const COGNITO_OPTIONS: Names<CognitoOptions> = {
  region: SETTING,
  userPoolId: SETTING,
  name: 'string',
  groups: 'strings',
  ...shared,
}

/**
 * Lets people sign in with a user pool of Amazon Cognito, by its managed login. The pool needs a domain, and the app client a secret, the
 * code grant and the scopes `openid`, `email` and `profile`. A refresh token comes with every sign-in.
 *
 * ```ts
 * cognito({
 *   region: 'eu-west-1',
 *   userPoolId: (env) => env.USER_POOL_ID,
 *   clientId: (env) => env.COGNITO_ID,
 *   clientSecret: (env) => env.COGNITO_SECRET,
 * })
 * ```
 *
 * @throws TypeError for an unknown, missing or invalid option.
 */
export function cognito(options: CognitoOptions): Upstream {
  requireOptions('cognito', options, COGNITO_OPTIONS, 'region', 'userPoolId', 'clientId', 'clientSecret')
  const { region, userPoolId, clientId, clientSecret, name = 'Amazon Cognito', groups } = options
  checkSettings('cognito', { region, userPoolId, clientId, clientSecret })
  refuseUndefined('cognito', options, 'groups')
  if (groups?.length === 0) throw new TypeError('"groups" of cognito is empty: remove it, or name a group.')
  if (typeof region === 'string' && typeof userPoolId === 'string' && !isPool(region, userPoolId))
    throw new TypeError(WRONG_POOL)
  return createOpenId({
    name,
    id: 'cognito',
    provider: (env) => {
      const place = readSetting('cognito', 'region', region, env)
      const pool = readSetting('cognito', 'userPoolId', userPoolId, env)
      const client = {
        clientId: readSetting('cognito', 'clientId', clientId, env),
        clientSecret: readSetting('cognito', 'clientSecret', clientSecret, env),
      }
      if (!isPool(place, pool)) throw new UpstreamFault('misconfigured', WRONG_POOL)
      return {
        issuer: `https://cognito-idp.${place}.amazonaws.com/${pool}`,
        ...client,
      }
    },
    scopes: ['openid', 'profile', 'email', ...(options.scopes ?? [])],
    wantsOffline: false,
    parameters: ({ isSwitching }) => promptOf(isSwitching && 'login'),
    // Its UserInfo endpoint says it as a string.
    isEmailVerified: ({ email_verified: verified }) => verified === true || verified === 'true',
    check: ({ token_use: use, 'cognito:groups': given }) => {
      if (use !== 'id')
        throw notAllowed('This account may not sign in here.', 'The token is not an ID token: "token_use".')
      const has = Array.isArray(given) ? given : []
      if (groups === undefined || groups.some((group) => has.includes(group))) return
      throw notAllowed(
        'Your account is not in a group that may sign in here.',
        'The person is in none of "groups".',
      )
    },
    ...requestLimits(options),
  })
}

const WRONG_POOL = '"region" and "userPoolId" of cognito must be as in "eu-west-1" and "eu-west-1_AbCdEf123".'

/** They become parts of the issuer's URL. */
function isPool(region: string, pool: string): boolean {
  return /^[a-z]{2,}(?:-[a-z]+)+-\d+$/.test(region) && /^[\w-]+$/.test(pool) && pool.startsWith(`${region}_`)
}
