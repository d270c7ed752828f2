/** What a metadata document may say, and at which URLs it may be ("Client ID Metadata Documents", and MCP 2026-07-28). */
import { isObject } from '../../definition/is-object.ts'
import type { ClientRecord } from '../tokens/library.ts'
import { isPublicUrl, RefusedUrlError } from './public-fetch.ts'

const MAX_URL_CHARACTERS = 450
const MAX_REDIRECT_URIS = 20
const MAX_TEXT_CHARACTERS = 2048

/** Its document does not exist or is wrong, for the page. */
export class ClientRefusedError extends Error {
  override readonly name = 'ClientRefusedError'
}

/** What a document says, as far as it counts. */
export interface ClientDocument extends ClientRecord {
  /** Whether the client may go without a proof: its document offers `none`. */
  readonly isPublic: boolean
  /** A key set, or the URL of one, if its document offers `private_key_jwt`. */
  readonly keys?: string | { readonly [member: string]: unknown }
}

/** As the draft demands: a path, and nothing that two readers could understand differently. */
export function requireDocumentUrl(id: string): void {
  const refuse = (why: string): never => {
    throw new ClientRefusedError(`The client's id is not the URL of a metadata document: ${why}.`)
  }
  if (id.length > MAX_URL_CHARACTERS) refuse(`it is over ${MAX_URL_CHARACTERS} characters`)
  if (!/^https:\/\/[^/?#\\\s]+\/[^#\\\s]+$/.test(id) || !URL.canParse(id)) refuse('it needs https and a path')
  const url = new URL(id)
  if (url.href !== id) refuse(`it is not written as ${url.href}`)
  if (!isPublicUrl(url)) refuse('it is not at a public https address')
}

/** @throws RefusedUrlError. */
export function toClient(id: string, value: unknown): ClientDocument {
  const refuse = (why: string): never => {
    throw new RefusedUrlError(why)
  }
  if (!isObject(value)) return refuse('it is not an object')
  if (value.client_id !== id) refuse('its client_id is not its URL')
  const { client_name: name, redirect_uris: uris } = value
  if (typeof name !== 'string' || name.trim() === '' || name.length > MAX_TEXT_CHARACTERS)
    return refuse('it has no client_name')
  if ('client_secret' in value || 'client_secret_expires_at' in value) refuse('it has a client_secret')
  const isList = (given: unknown): given is string[] =>
    Array.isArray(given) && given.every((one) => typeof one === 'string' && one.length <= MAX_TEXT_CHARACTERS)
  if (!isList(uris) || uris.length === 0 || uris.length > MAX_REDIRECT_URIS)
    return refuse(`it has no redirect_uris, or more than ${MAX_REDIRECT_URIS}`)
  const { token_endpoint_auth_method: method, token_endpoint_auth_methods_supported: methods } = value
  const offered = isList(methods) ? methods : [method ?? 'none']
  const isPublic = offered.includes('none')
  const { jwks, jwks_uri: url } = value
  const given = isObject(jwks)
    ? jwks
    : typeof url === 'string' && url.length <= MAX_TEXT_CHARACTERS
      ? url
      : undefined
  const keys = offered.includes('private_key_jwt') ? given : undefined
  if (typeof keys === 'string' && !(URL.canParse(keys) && isPublicUrl(new URL(keys))) && !isPublic)
    refuse('its jwks_uri is not at a public https address')
  if (!isPublic && keys === undefined)
    refuse('its token_endpoint_auth_method is neither "none" nor "private_key_jwt" with keys')
  const chosen = (given: unknown, known: readonly string[], usual: readonly string[]): string[] =>
    (isList(given) ? given : usual).filter((one) => known.includes(one))
  const grantTypes = chosen(
    value.grant_types,
    ['authorization_code', 'refresh_token'],
    ['authorization_code'],
  )
  if (!grantTypes.includes('authorization_code')) refuse('its grant_types have no authorization_code')
  return {
    clientId: id,
    clientName: name.trim(),
    redirectUris: uris,
    grantTypes,
    responseTypes: chosen(value.response_types, ['code'], ['code']),
    tokenEndpointAuthMethod: 'none',
    isPublic,
    ...(keys !== undefined && { keys }),
  }
}
