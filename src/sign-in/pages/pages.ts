/**
 * The pages of sign-in: the question whether a client may come in, the person's connections, what went wrong, and the stand-in of
 * `mayfly dev`. `renderPage` returns the whole document, `pagePolicy` its Content-Security-Policy. They have one inline style, pinned by
 * hash, no script, and load nothing.
 */
import { type Html, html, raw } from '../../http/html.ts'
import { displayHost, displayText, displayUrl, initialOf, isInternational } from './display-text.ts'
import type {
  ConnectionsPage,
  ConsentPage,
  ErrorPage,
  PageClient,
  PageConnection,
  PagePerson,
  PageScope,
  SignInPage,
  WhoPage,
} from './model.ts'
import { STYLE, STYLE_HASH } from './style.ts'

/** A whole HTML document. */
export function renderPage(page: SignInPage): string {
  const { title, body } = contentOf(page)
  return html`<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content="width=device-width"><meta name=robots content=noindex><title>${title} · ${serverOf(page)}</title><link rel=icon href="data:,"><style>${raw(STYLE)}</style><main>${body}</main></html>`
    .markup
}

/**
 * The policy of a page. Browsers compare `form-action` with each redirect after the form, too: the provider, whatever it redirects to, the
 * client's redirect URI, and wherever the client then sends the browser. So a consent allows https and the scheme of the redirect URI.
 */
export function pagePolicy(page: SignInPage): string {
  const parts = ["default-src 'none'", `style-src '${STYLE_HASH}'`, 'img-src data:', "base-uri 'none'"]
  if (page.page === 'consent') {
    // A server on http, in development, may have a provider that is on http, too.
    const schemes = [page.action, page.client.redirectUri].flatMap((url) => schemeOf(url) ?? [])
    parts.push(`form-action ${[...new Set(["'self'", 'https:', ...schemes])].join(' ')}`)
  }
  if (page.page === 'connections') parts.push("form-action 'self'")
  if (page.page === 'error') parts.push("form-action 'none'")
  // That of `dev` leads to any client at once where the consent is remembered, also to one with a scheme of its own.
  return [...parts, "frame-ancestors 'none'"].join('; ')
}

/** They run or show here what another person wrote. */
const DANGEROUS = /^(?:javascript|data|vbscript|blob|file|filesystem|about|view-source):$/

/** As a browser reads the URL, which ignores spaces and line breaks in it. Undefined if nobody should go there. */
function schemeOf(url: string): string | undefined {
  const scheme = URL.canParse(url) ? new URL(url).protocol : undefined
  return scheme === undefined || DANGEROUS.test(scheme) ? undefined : scheme
}

interface Content {
  readonly title: string
  readonly body: Html
}

function contentOf(page: SignInPage): Content {
  switch (page.page) {
    case 'consent':
      return consent(page)
    case 'connections':
      return connections(page)
    case 'error':
      return failure(page)
    case 'who':
      return who(page)
  }
}

const serverOf = ({ server }: { readonly server: string }): string => displayText(server, 60) || 'This server'

/** Its own direction of writing stays its own. */
const named = (text: string): Html => html`<bdi>${text}</bdi>`

const nameOf = ({ name }: Pick<PageClient, 'name'>): string =>
  displayText(name, 60) || 'An app without a name'

function consent(page: ConsentPage): Content {
  const { client, person, upstream, scopes, switchUrl, connectionsUrl } = page
  const name = nameOf(client)
  const server = serverOf(page)
  const isKnown = client.host !== undefined
  const body = html`<header><div class=pair aria-hidden=true><b class="${isKnown ? '' : 'bad'}">${initialOf(name)}</b><i></i><b>${initialOf(server)}</b></div><h1>Let ${named(name)} use ${named(server)} as you?</h1></header><div class=card><div class=from>${origin(client)}</div><div class=who>${
    person === undefined
      ? html`<p>Next, you sign in with ${displayText(upstream, 60)}.</p>`
      : personRow(person, upstream)
  }${
    switchUrl !== undefined && html`<a href="${switchUrl}">Not you?</a>`
  }</div><section><h2>It may</h2>${scopeList(scopes)}${
    page.upstreamScopes.length > 0 &&
    html`<small>${named(server)} asks ${displayText(upstream, 60)} for <code>${displayText(page.upstreamScopes.join(' '), 300)}</code>.</small>`
  }</section><div class=from><p>You return to ${host(client.redirectHost)}.</p>${
    client.isLoopback &&
    html`<small>That is a program on this computer. Go on only if you have just started it.</small>`
  }<small><code>${displayUrl(client.redirectUri)}</code></small></div></div><form class=go method=post action="${page.action}">${hidden(page.fields)}<button name=decision value=deny>Cancel</button><button class=main name=decision value=approve>Allow</button></form><p class=soft>Allow it only if you have just asked for it in that app. ${
    connectionsUrl === undefined
      ? 'You can disconnect it at any time.'
      : html`You can disconnect it at any time in <a href="${connectionsUrl}">your connections</a>.`
  }</p>`
  return { title: `Let ${name} in?`, body }
}

/** Who the client is, as far as that is known. */
function origin({ host: verified }: Pick<PageClient, 'host'>): Html {
  return verified === undefined
    ? html`<p class=note><strong class=bad>Not verified.</strong> Any app can give itself this name.</p>`
    : html`<p>This app is from ${host(verified)}.</p>`
}

function host(name: string): Html {
  return html`<strong><code>${displayHost(name)}</code></strong>${
    isInternational(name) &&
    html` <span class=bad>(this address contains letters that can look like others)</span>`
  }`
}

function personRow({ name, email }: PagePerson, upstream: string): Html {
  const shown = displayText(name ?? '', 80) || displayText(email ?? '', 80) || 'Somebody without a name'
  const address = name !== undefined && email !== undefined ? displayText(email, 120) : undefined
  return html`<b aria-hidden=true>${initialOf(shown)}</b><p>${named(shown)}<small>${
    address !== undefined && html`${named(address)}, `
  }signed in with ${displayText(upstream, 60)}</small></p>`
}

function scopeList(scopes: readonly PageScope[]): Html {
  if (scopes.length === 0) return html`<ul class=scopes><li>Use this server, and nothing else</ul>`
  return html`<ul class=scopes>${scopes.map(
    ({ name, sentence }) =>
      html`<li>${displayText(sentence, 300)}${
        sentence !== name && html` <small><code>${displayText(name, 100)}</code></small>`
      }`,
  )}</ul>`
}

function hidden(fields: { readonly [name: string]: string }): Html[] {
  return Object.entries(fields).map(
    ([name, value]) => html`<input type=hidden name="${name}" value="${value}">`,
  )
}

function connections(page: ConnectionsPage): Content {
  const server = serverOf(page)
  const title = 'Your connections'
  const body = html`<header><h1>${title}</h1><p class=soft>Apps that use ${named(server)} as you.</p></header>${
    page.isRemoved &&
    html`<p class=said role=status>It is disconnected, and cannot use ${named(server)} any more.</p>`
  }<div class=card><div class=who>${personRow(page.person, page.upstream)}${
    page.canSignOut === true &&
    html`<form method=post action="${page.action}">${hidden(page.fields)}<button class=plain name=sign_out value=1>Sign out</button></form>`
  }</div>${page.connections.length === 0 && html`<p>No app is connected. When you let one in, it is listed here.</p>`}</div>${page.connections.map(
    (one) => connection(one, page),
  )}`
  return { title, body }
}

function connection(
  { id, client, scopes, since }: PageConnection,
  { action, fields }: ConnectionsPage,
): Html {
  const name = nameOf(client)
  const date = new Date(since)
  const isDate = Number.isFinite(date.getTime())
  return html`<article class=card><div class=who><b aria-hidden=true>${initialOf(name)}</b><p><strong>${named(name)}</strong><small>${
    isDate && html`Connected since <time datetime="${date.toISOString()}">${dateOf(date)}</time>. `
  }It returns to <code>${displayHost(client.redirectHost)}</code>.</small></p><form method=post action="${action}">${hidden(fields)}<input type=hidden name=revoke value="${id}"><button class=plain aria-label="Disconnect ${name}">Disconnect</button></form></div><div class=from>${origin(client)}${scopeList(scopes)}</div></article>`
}

/** As in `14 November 2026`. */
function dateOf(date: Date): string {
  return date.toLocaleDateString('en-GB', { dateStyle: 'long', timeZone: 'UTC' })
}

function failure(page: ErrorPage): Content {
  const { message, returnTo } = page
  const title = displayText(page.title, 120)
  const body = html`<header><div class=pair aria-hidden=true><b class=bad>!</b></div><h1>${title}</h1></header><div class=card><p>${displayText(message, 600)}</p></div>${
    returnTo !== undefined &&
    schemeOf(returnTo.url) !== undefined &&
    html`<a class=button href="${returnTo.url}" rel=noreferrer>Return to ${displayHost(returnTo.host)}</a>`
  }<p class=soft>You were using ${named(serverOf(page))}.</p>`
  return { title, body }
}

/** Nobody's: the domain is reserved (RFC 2606). */
const PEOPLE = [
  { name: 'Ada Lovelace', email: 'ada@example.com' },
  { name: 'Grace Hopper', email: 'grace@example.com' },
]

function who(page: WhoPage): Content {
  const title = 'Who are you?'
  const body = html`<header><h1>${title}</h1><p class=soft>Only on this computer: ${named(serverOf(page))} asks here while no identity provider is set up.</p></header><div class=card>${PEOPLE.map(
    ({ name, email }) =>
      html`<form class=none method=get action="${page.action}">${hidden({ ...page.fields, name, email })}<button class="who person"><b aria-hidden=true>${initialOf(name)}</b><p>${name}<small>${email}</small></p></button></form>`,
  )}<form class=pick method=get action="${page.action}">${hidden(page.fields)}<label>Name<input name=name required maxlength=80 autocomplete=off></label><label>Email<input type=email name=email required maxlength=120 autocomplete=off></label><button class=main>Sign in</button></form></div>${
    page.cancelUrl !== undefined && html`<p><a href="${page.cancelUrl}">Do not sign in</a></p>`
  }`
  return { title, body }
}
