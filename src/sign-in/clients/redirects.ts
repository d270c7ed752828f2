/** Which redirect URIs are a client's (RFC 9700 §4.1.3): the same characters, except for the port of an app on the person's computer. */

/** http, a loopback host (RFC 8252 §7.3), and its port. */
const LOOPBACK_PORT = /^(http:\/\/(?:localhost|127(?:\.\d{1,3}){3}|\[::1\]))(?::\d{1,5})?(?=[/?]|$)/

export function isRegisteredUri(uri: string, registered: readonly string[]): boolean {
  const plain = withoutPort(uri)
  return registered.some((one) => one === uri || (plain !== undefined && plain === withoutPort(one)))
}

/** Undefined: the port counts. */
function withoutPort(uri: string): string | undefined {
  return LOOPBACK_PORT.test(uri) ? uri.replace(LOOPBACK_PORT, '$1') : undefined
}
