/** What of a server's words is shown: no secret that it sends back, nothing that steers a terminal, and not too much. */

const MAX_QUOTE = 100
const MAX_TEXT = 500

/** Marks what somebody else wrote until it is shown: private-use characters, which no text of ours has. */
const OPEN = '\ue000'
const CLOSE = '\ue001'
const QUOTED = new RegExp(`${OPEN}([^${CLOSE}]*)${CLOSE}`, 'g')

/** What somebody else wrote, in full: clipped before the secrets are out, half of one might be left. */
export function quote(text: unknown): string {
  const string = typeof text === 'string' ? text : (JSON.stringify(text) ?? 'nothing')
  return `${OPEN}${string.replaceAll(OPEN, '').replaceAll(CLOSE, '')}${CLOSE}`
}

/** The text without `secrets` in any form in which JSON or a URL may hold them; then without control characters, and clipped. */
export function toShown(text: string, secrets: readonly string[]): string {
  const forms = secrets.flatMap((secret) => [
    secret,
    JSON.stringify(secret).slice(1, -1),
    secret.replaceAll('/', '\\/'),
    encodeURIComponent(secret),
  ])
  // Names of headers and methods are shown in another case than they came in.
  const hidden = forms.reduce(
    (rest, form) => rest.replaceAll(new RegExp(escapeRegExp(form), 'gi'), '[secret]'),
    text,
  )
  const plain = hidden.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ')
  return clip(
    plain.replaceAll(QUOTED, (_, quoted: string) => `"${clip(quoted, MAX_QUOTE)}"`),
    MAX_TEXT,
  )
}

function escapeRegExp(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
}

function clip(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}…` : text
}
