/** The browser of a user who signs in at an authorization server, and agrees. */

/** Signs in and consents, following every redirect until one leaves for the client; resolves with that URL. Ticks these boxes too. */
export async function signIn(start: URL, redirectUrl: string, ticks: readonly string[] = []): Promise<URL> {
  const cookies = new Map<string, string>()
  let next: { url: URL; form?: URLSearchParams } = { url: start }
  for (let step = 0; step < 20; step++) {
    if (next.url.href.startsWith(redirectUrl)) return next.url
    const { url, form } = next
    const response: Response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie: Array.from(cookies, ([name, value]) => `${name}=${value}`).join('; ') },
      ...(form !== undefined && { method: 'POST', body: form }),
    })
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      if (value === '') cookies.delete(name)
      else cookies.set(name, value)
    }
    const location = response.headers.get('location')
    const page = await response.text()
    if (location !== null) next = { url: new URL(location, url) }
    else next = fillIn(page, url, ticks)
  }
  throw new Error('The sign-in goes round in circles.')
}

/** Whatever form the page shows: a name for the sign-in, a click for the consent. */
export function fillIn(
  page: string,
  base: URL,
  ticks: readonly string[] = [],
): { url: URL; form: URLSearchParams } {
  const action = /<form[^>]*action="([^"]+)"/.exec(page)?.[1]
  if (action === undefined)
    throw new Error(`No form to fill in: ${page.replaceAll(/<style>[\s\S]*<\/style>|<[^>]+>|\s+/g, ' ')}`)
  const form = new URLSearchParams()
  for (const [input] of page.matchAll(/<input[^>]*>/g)) {
    const name = /name="([^"]+)"/.exec(input)?.[1]
    const value = /value="([^"]*)"/.exec(input)?.[1] ?? ''
    const isUnticked = /type="checkbox"/.test(input) && !/ checked/.test(input) && !ticks.includes(value)
    if (name !== undefined && !isUnticked) form.append(name, value)
  }
  // The button that stands out agrees, otherwise the first one.
  const buttons = Array.from(page.matchAll(/<button[^>]*>/g), ([button]) => button)
  const chosen = buttons.find((button) => /class="?main/.test(button)) ?? buttons[0] ?? ''
  const [, decision, agreed] = /name="?([^"\s>]+)"?[^>]*value="?([^"\s>]*)/.exec(chosen) ?? []
  if (decision !== undefined) form.set(decision, agreed ?? '')
  if (form.has('login')) form.set('login', 'ann')
  if (form.has('password')) form.set('password', 'any')
  return { url: new URL(action, base), form }
}
