/** A browser with cookies, which follows redirects by itself and submits forms when it is told to. */

/** A request and what came back. */
export interface Hop {
  readonly url: URL
  readonly response: Response
  readonly page: string
}

interface Cookie {
  readonly name: string
  readonly value: string
  readonly host: string
  readonly path: string
}

export class Browser {
  readonly #send: typeof fetch
  #cookies: readonly Cookie[] = []
  /** All that it did. */
  readonly hops: Hop[] = []

  constructor(send: typeof fetch) {
    this.#send = send
  }

  /** Until a page, or a URL that begins with `end`, which is not opened. */
  async open(start: URL | string, end: string, init: RequestInit = {}): Promise<Hop | URL> {
    let url = new URL(start)
    let sent = init
    for (let step = 0; step < 20; step++) {
      if (url.href.startsWith(end)) return url
      const hop = await this.#visit(url, sent)
      const location = hop.response.headers.get('location')
      if (location === null) return hop
      if (hop.response.status !== 302 && hop.response.status !== 303)
        throw new Error(`${url} redirects with ${hop.response.status}.`)
      url = new URL(location, url)
      sent = {}
    }
    throw new Error('The redirects go round in circles.')
  }

  /** Sends the form of a page that has a field or a button of that name, as pressing it does. */
  submit(
    { url: base, page }: Hop,
    field: string,
    value: string | undefined,
    end: string,
  ): Promise<Hop | URL> {
    const { url, form } = formOf(page, base, field)
    if (value !== undefined) form.set(field, value)
    const headers = { origin: base.origin, 'sec-fetch-site': 'same-origin' }
    return this.open(url, end, { method: 'POST', body: form, headers })
  }

  cookiesFor({ hostname, pathname, protocol }: URL): string {
    return this.#cookies
      .filter(({ host, path, name }) => {
        if (name.startsWith('__Host-') && protocol !== 'https:') return false
        const isBelow = pathname === path || pathname.startsWith(path.endsWith('/') ? path : `${path}/`)
        return host === hostname && isBelow
      })
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ')
  }

  async #visit(url: URL, init: RequestInit): Promise<Hop> {
    const headers = new Headers(init.headers)
    const cookie = this.cookiesFor(url)
    if (cookie !== '') headers.set('cookie', cookie)
    const response = await this.#send(url, { ...init, headers, redirect: 'manual' })
    for (const line of response.headers.getSetCookie()) this.#take(line, url)
    const hop = { url, response, page: await response.text() }
    this.hops.push(hop)
    return hop
  }

  /** RFC 6265bis §5.7, as far as the servers of these tests go. */
  #take(line: string, url: URL): void {
    const [pair = '', ...attributes] = line.split(';').map((part) => part.trim())
    const [name = '', value = ''] = pair.split(/=(.*)/s)
    const of = (wanted: string) =>
      attributes.find((one) => one.toLowerCase().startsWith(`${wanted}=`))?.slice(wanted.length + 1)
    const isSecure = attributes.some((one) => one.toLowerCase() === 'secure')
    if (name.startsWith('__Host-') && !(isSecure && of('path') === '/' && url.protocol === 'https:'))
      throw new Error(`No browser takes ${line}`)
    const cookie = { name, value, host: url.hostname, path: of('path') ?? '/' }
    const isSame = (other: Cookie) =>
      other.name === name && other.host === cookie.host && other.path === cookie.path
    const isOver = of('max-age') === '0' || Date.parse(of('expires') ?? '') < Date.now()
    this.#cookies = [...this.#cookies.filter((one) => !isSame(one)), ...(isOver ? [] : [cookie])]
  }
}

/** Where the form goes, and what is hidden in it. */
export function formOf(page: string, base: URL, field: string): { url: URL; form: URLSearchParams } {
  for (const [, attributes = '', content = ''] of page.matchAll(/<form\b([^>]*)>([\s\S]*?)<\/form>/g)) {
    const fields = [...content.matchAll(/<(?:input|button)\b([^>]*)>/g)].map(([, text = '']) => read(text))
    if (!fields.some(({ name }) => name === field)) continue
    const hidden = fields.filter(({ type }) => type === 'hidden')
    const form = new URLSearchParams(hidden.map(({ name = '', value = '' }) => [name, value]))
    return { url: new URL(read(attributes).action ?? '', base), form }
  }
  throw new Error(`No form with ${field}: ${page.replaceAll(/<style>[\s\S]*<\/style>|<[^>]+>|\s+/g, ' ')}`)
}

/** Attributes, quoted or not. */
function read(text: string): { readonly [attribute: string]: string } {
  const found = text.matchAll(/([\w-]+)=(?:"([^"]*)"|([^\s"]+))/g)
  return Object.fromEntries(
    [...found].map(([, name, quoted, plain]) => [name, unescaped(quoted ?? plain ?? '')]),
  )
}

function unescaped(text: string): string {
  return text
    .replaceAll(/&#(\d+);/g, (_all, code) => String.fromCodePoint(Number(code)))
    .replaceAll('&amp;', '&')
}
