/**
 * What every verifier that trusts an issuer checks of its options.
 */

/** Plain http is for this machine alone. */
export function isSecureUrl(text: unknown): text is string {
  if (typeof text !== 'string' || !URL.canParse(text)) return false
  const { protocol, hostname } = new URL(text)
  return (
    protocol === 'https:' || (protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(hostname))
  )
}

/** @throws TypeError unless it is a text, or a list of texts, none of them empty: tokens without an audience would match what is undefined. */
export function checkAudienceOption(verifier: string, audience: unknown): void {
  const all = [audience].flat()
  if (all.length > 0 && all.every((one) => typeof one === 'string' && one !== '')) return
  throw new TypeError(
    `${verifier} needs "audience": without it, tokens for any other service would be accepted.`,
  )
}

/** Whether a claim names one of those audiences. */
export function isFor(claim: unknown, audience: string | readonly string[]): boolean {
  const wanted = [audience].flat()
  return [claim].flat().some((one) => wanted.includes(one as string))
}
