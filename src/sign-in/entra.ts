/** Sign-in with Microsoft Entra ID: `entra({ tenant, clientId, clientSecret })`. */
import { type Names, requireOptions } from '../definition/unknown-option.ts'
import { PROVIDER_OPTIONS, type ProviderOptions, promptOf, requestLimits } from './oidc.ts'
import { notAllowed } from './upstream/errors.ts'
import { createOpenId } from './upstream/openid.ts'
import { checkSettings, readSetting, refuseUndefined, SETTING, type Setting } from './upstream/settings.ts'
import { type Upstream, UpstreamFault } from './upstream/upstream.ts'

export type { ProviderOptions } from './oidc.ts'
export type { Setting } from './upstream/settings.ts'

/** Options of `entra`. */
export interface EntraOptions extends ProviderOptions {
  /** The directory (tenant) ID. For an application of several tenants `organizations`, `common` or `consumers`, with `allowedTenants`. */
  tenant: Setting
  /** The IDs of the tenants whose people may sign in, or `any`. Only for an application of several tenants, which needs it. */
  allowedTenants?: readonly string[] | 'any'
  /** The object IDs of groups, of which a person needs one. The application must put the `groups` claim into ID tokens. Default: none. */
  groups?: readonly string[]
}

const ENTRA_OPTIONS: Names<EntraOptions> = {
  tenant: SETTING,
  allowedTenants: 1,
  groups: 'strings',
  ...PROVIDER_OPTIONS,
}

const HOST = 'https://login.microsoftonline.com'
const SHARED = ['organizations', 'common', 'consumers']
const GUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i

/**
 * Lets people sign in with Microsoft Entra ID. The `tid` of the verified ID token must be the tenant, or one of `allowedTenants`. An email
 * counts only with `xms_edov`: anybody can put another's address into an account of a tenant of their own.
 *
 * ```ts
 * entra({ tenant: (env) => env.ENTRA_TENANT, clientId: (env) => env.ENTRA_ID, clientSecret: (env) => env.ENTRA_SECRET })
 * ```
 *
 * @throws TypeError for an unknown, missing or invalid option.
 */
export function entra(options: EntraOptions): Upstream {
  requireOptions('entra', options, ENTRA_OPTIONS, 'tenant', 'clientId', 'clientSecret')
  const { tenant, clientId, clientSecret, allowedTenants, groups, offlineAccess = true } = options
  checkSettings('entra', { tenant, clientId, clientSecret })
  refuseUndefined('entra', options, 'allowedTenants', 'groups')
  checkTenants(allowedTenants)
  if (groups?.length === 0) throw new TypeError('"groups" of entra is empty: remove it, or name a group.')
  if (typeof tenant === 'string') {
    const wrong = tenantFault(tenant, allowedTenants)
    if (wrong !== undefined) throw new TypeError(wrong)
  }
  const tenantFor = (env: unknown): string => {
    const found = readSetting('entra', 'tenant', tenant, env).toLowerCase()
    const wrong = tenantFault(found, allowedTenants)
    if (wrong !== undefined) throw new UpstreamFault('misconfigured', wrong)
    return found
  }
  const allowed = Array.isArray(allowedTenants)
    ? new Set(allowedTenants.map((one: string) => one.toLowerCase()))
    : undefined
  return createOpenId({
    name: 'Microsoft',
    id: 'entra',
    provider: (env) => {
      const client = {
        clientId: readSetting('entra', 'clientId', clientId, env),
        clientSecret: readSetting('entra', 'clientSecret', clientSecret, env),
      }
      const found = tenantFor(env)
      return {
        issuer: `${HOST}/${found}/v2.0`,
        ...(SHARED.includes(found) && { template: `${HOST}/{tenantid}/v2.0` }),
        ...client,
      }
    },
    scopes: [
      'openid',
      'profile',
      'email',
      ...(offlineAccess ? ['offline_access'] : []),
      ...(options.scopes ?? []),
    ],
    wantsOffline: false,
    clientAuth: 'post',
    parameters: ({ isSwitching }) => promptOf(isSwitching && 'select_account'),
    isEmailVerified: ({ xms_edov: verified }) => verified === true || verified === 1 || verified === '1',
    check: (claims, env) => {
      const found = tenantFor(env)
      const tid = String(claims.tid).toLowerCase()
      const isAllowed = SHARED.includes(found) ? (allowed?.has(tid) ?? true) : tid === found
      if (!isAllowed)
        throw notAllowed(
          'Only accounts of certain organizations may sign in here, and yours is not one of them.',
          'The ID token has the "tid" of another tenant.',
        )
      checkGroups(claims, groups)
    },
    ...requestLimits(options),
  })
}

function tenantFault(tenant: string, allowed: EntraOptions['allowedTenants']): string | undefined {
  if (SHARED.includes(tenant))
    return allowed === undefined
      ? `entra needs "allowedTenants" with the tenant "${tenant}": the IDs of tenants, or "any".`
      : undefined
  if (!GUID.test(tenant))
    return '"tenant" of entra must be the directory (tenant) ID, or "organizations", "common" or "consumers".'
  return allowed === undefined
    ? undefined
    : '"allowedTenants" of entra is for the tenants "organizations", "common" and "consumers": remove it.'
}

function checkTenants(allowed: unknown): void {
  const isList = Array.isArray(allowed) && allowed.length > 0
  if (
    allowed === undefined ||
    allowed === 'any' ||
    (isList && allowed.every((one) => GUID.test(String(one))))
  )
    return
  throw new TypeError('"allowedTenants" of entra must be "any", or a list of directory (tenant) IDs.')
}

function checkGroups(
  { groups: given, hasgroups, _claim_names: elsewhere }: { readonly [claim: string]: unknown },
  wanted: readonly string[] | undefined,
): void {
  if (wanted === undefined) return
  const has = Array.isArray(given) ? given : []
  if (wanted.some((group) => has.includes(group))) return
  const isLeftOut = hasgroups === true || memberNames(elsewhere).includes('groups')
  const reason = isLeftOut
    ? 'The person is in too many groups for an ID token: let the application emit only groups assigned to it.'
    : Array.isArray(given)
      ? 'The person is in none of "groups".'
      : 'The ID token has no "groups": add that claim to the application’s ID tokens.'
  throw notAllowed('Your account is not in a group that may sign in here.', reason)
}

function memberNames(value: unknown): readonly string[] {
  return typeof value === 'object' && value !== null ? Object.keys(value) : []
}
