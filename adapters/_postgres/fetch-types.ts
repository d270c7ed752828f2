/** Refuses a client of the library `postgres` that would end its process when Postgres restarts. */

/**
 * With `fetch_types`, the default, each new connection first queries the types of arrays. If Postgres stops meanwhile, the library leaves
 * that rejection unhandled, and no caller can handle it. Stores and buses use no arrays.
 *
 * @param name The function that got the client.
 * @throws TypeError
 */
export function refuseTypeFetch(client: object, name: string): void {
  const { options } = client as { readonly options?: { readonly fetch_types?: unknown } }
  if (options?.fetch_types === true)
    throw new TypeError(
      `${name} needs postgres(url, { fetch_types: false }): otherwise a restart of Postgres ends this process.`,
    )
}
