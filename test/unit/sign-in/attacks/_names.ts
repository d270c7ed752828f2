/** Forms with many names. */
import { ORIGIN } from '../_sign-in.ts'

/** As many different names as fit. */
export function names(characters: number): string {
  let text = ''
  for (let count = 0; text.length < characters - 8; count++) text += `${count.toString(36)}&`
  return text
}

export const formPost = (path: string, body: string): Request =>
  new Request(`${ORIGIN}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body,
  })
