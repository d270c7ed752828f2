/**
 * Checks that all verifiers with an issuer share.
 */

/** Whether it is an https URL. Plain http is allowed only for this machine. */
export function isSecureUrl(text: unknown): text is string {
  if (typeof text !== 'string' || !URL.canParse(text)) return false
  const { protocol, hostname } = new URL(text)
  return (
    protocol === 'https:' || (protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(hostname))
  )
}

/** @throws TypeError unless it is a non-empty string or a list of them: without an audience, tokens without one would match. */
export function checkAudienceOption(verifier: string, audience: unknown): void {
  const all = [audience].flat()
  const unset = all.findIndex((one) => typeof one !== 'string' || one === '')
  if (all.length > 0 && unset < 0) return
  if (all.length > 1)
    throw new TypeError(
      `Number ${unset + 1} in "audience" of ${verifier} is empty: is the variable that it comes from set?`,
    )
  throw new TypeError(
    `${verifier} needs "audience": without it, tokens for any other service would be accepted.`,
  )
}

/** Whether a claim contains one of the audiences. */
export function isFor(claim: unknown, audience: string | readonly string[]): boolean {
  const wanted = [audience].flat()
  return [claim].flat().some((one) => wanted.includes(one as string))
}
