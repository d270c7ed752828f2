/** Where a caller's token is. */

export const AUTHORIZATION = 'Authorization'

export interface TokenHeaders {
  readonly header?: string | undefined
  readonly keyHeader?: string | undefined
}

/** The name of the header with the token: `Authorization`, unless the options name another. */
export function tokenHeader({ headers }: Request, { header, keyHeader }: TokenHeaders): string {
  return keyHeader !== undefined && headers.get(keyHeader) ? keyHeader : (header ?? AUTHORIZATION)
}
