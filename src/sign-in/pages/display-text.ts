/** Names that strangers chose, as people may see them: a client could choose the name of another. */
import { escapeUnprintable } from '../../definition/unprintable.ts'

/** Marks above and below letters: with more, a name covers the lines around it. */
const STACKED = /(\p{M}{2})\p{M}+/gu

/**
 * On one line and at most `characters` long. What is invisible or changes the direction of writing is spelled out, as in `\u202e`.
 */
export function displayText(text: string, characters: number): string {
  // Before the work below: names may be as long as a request.
  const start = text.slice(0, characters * 16)
  const plain = escapeUnprintable(
    start.normalize('NFC').replaceAll(/\s+/g, ' ').trim().replaceAll(STACKED, '$1'),
  )
  const letters = [...plain]
  if (letters.length <= characters && start.length === text.length) return plain
  return `${letters.slice(0, characters).join('')}…`
}

/** RFC 1035 §2.3.4, and a port. */
const MAX_HOST = 260
/** Longer hosts are shown as they came, longer URLs without their end: the rules for marks in hosts are work that grows faster than the text. */
const MAX_PARSED = 1024

/** The host as it is looked up: letters of other scripts, which can look like Latin ones, are spelled `xn--…` (RFC 3492). */
export function displayHost(host: string): string {
  const url = `https://${host}`
  const isHost = url.length <= MAX_PARSED && !/^[\w+.-]+:$/.test(host) && URL.canParse(url)
  // Whole: its end says whose it is.
  return displayText(isHost ? new URL(url).host : host, MAX_HOST)
}

/** The URL as a browser asks for it, with the host in that spelling. */
export function displayUrl(url: string): string {
  const start = url.slice(0, MAX_PARSED)
  return displayText(URL.canParse(start) ? new URL(start).href : url, MAX_HOST + 60)
}

/** Its spelling differs from what a person reads in an address bar. */
export function isInternational(host: string): boolean {
  return /(?:^|\.)xn--/.test(displayHost(host))
}

/** The first letter, for the picture of somebody without one. */
export function initialOf(text: string): string {
  return (/[\p{L}\p{N}]/u.exec(text.slice(0, 200))?.[0] ?? '?').toLocaleUpperCase('en')
}
