/** Where a caller's token is. */

export const AUTHORIZATION = 'Authorization'

export interface TokenHeaders {
  readonly header?: string | undefined
  readonly keyHeader?: string | readonly string[] | undefined
}

/** The name of the header with the token: `Authorization`, unless the options name another. */
export function tokenHeader({ headers }: Request, { header, keyHeader }: TokenHeaders): string {
  const sent = keyHeader === undefined ? undefined : [keyHeader].flat().find((name) => headers.get(name))
  return sent ?? header ?? AUTHORIZATION
}
