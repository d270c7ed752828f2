/**
 * The page on which a user says what a client may do. `authorize` answers for `/authorize`: GET shows the page, POST takes the
 * answer. Forged answers are refused by `approveConsent`: the form's handle works once, and only with the cookie of the
 * browser that was shown the page.
 */
import {
  AuthorizationError,
  CimdFetchError,
  type ConsentDescription,
  type OAuthHelpers,
} from '@cloudflare/workers-oauth-provider'

/** What is kept with a grant, encrypted, for the tools: `ctx.auth.extra`. */
export interface UserProps {
  readonly name: string
}

interface User extends UserProps {
  /** Without a colon, which tokens have between their parts. */
  readonly id: string
  /** What this user may let a client do. */
  readonly scopes: readonly string[]
}

const DEMO_USER: User = { id: 'ann', name: 'Ann', scopes: ['shop', 'refund'] }

/**
 * Who is at the browser: REPLACE THIS. Here everybody is Ann, so it knows nobody but on one's own machine. A real one reads the
 * session of your sign-in; for a browser that has none, `authorize` redirects to the sign-in, which comes back to the same URL.
 */
function signedInUser(request: Request): User | undefined {
  const { hostname } = new URL(request.url)
  return ['localhost', '127.0.0.1', '[::1]'].includes(hostname) ? DEMO_USER : undefined
}

export async function authorize(request: Request, oauth: OAuthHelpers): Promise<Response> {
  const user = signedInUser(request)
  if (user === undefined) return plainText(501, 'This example signs nobody in: replace signedInUser.')
  try {
    if (request.method === 'GET') return await showPage(request, oauth, user)
    if (request.method === 'POST') return await takeAnswer(request, oauth, user)
  } catch (error) {
    return explain(error)
  }
  return new Response(null, { status: 405, headers: { allow: 'GET, POST' } })
}

async function showPage(request: Request, oauth: OAuthHelpers, user: User): Promise<Response> {
  const authRequest = await oauth.parseAuthRequest(request)
  const details = await oauth.describeConsent(authRequest)
  const { handle, headers } = await oauth.beginConsent(authRequest)
  headers.set('content-type', 'text/html; charset=utf-8')
  // No form-action: browsers apply it to the redirect that follows, which goes to the client.
  headers.set('content-security-policy', "default-src 'none'; frame-ancestors 'none'")
  headers.set('referrer-policy', 'no-referrer')
  return new Response(renderPage(details, handle, user), { headers })
}

async function takeAnswer(request: Request, oauth: OAuthHelpers, user: User): Promise<Response> {
  const form = await request.formData().catch(() => new FormData())
  const handle = String(form.get('handle') ?? '')
  if (form.get('decision') !== 'approve') {
    const { headers } = await oauth.denyConsent(request, handle)
    return new Response(null, { status: 302, headers })
  }
  const ticked = form.getAll('scope').map(String)
  // Whatever was posted: a user can give away only what is theirs.
  const scope = user.scopes.filter((one) => ticked.includes(one))
  const { request: authRequest, headers } = await oauth.approveConsent(request, handle, { scope })
  const props: UserProps = { name: user.name }
  const { redirectTo } = await oauth.completeAuthorization({
    request: authRequest,
    userId: user.id,
    scope,
    props,
    metadata: {},
  })
  headers.set('location', redirectTo)
  return new Response(null, { status: 302, headers })
}

/** Back to the client where the library knows its address to be right; shown here otherwise. */
function explain(error: unknown): Response {
  if (error instanceof CimdFetchError) return plainText(400, 'What this client says of itself cannot be had.')
  if (!(error instanceof AuthorizationError)) throw error
  if (error.redirectTo !== undefined) return Response.redirect(error.redirectTo, 302)
  return plainText(400, error.description)
}

function plainText(status: number, text: string): Response {
  const headers = { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' }
  return new Response(text, { status, headers })
}

function renderPage(details: ConsentDescription, handle: string, user: User): string {
  const { clientName, clientDomain, redirectHost, redirectIsLoopback, scope } = details
  // More than was asked for can be ticked: some clients cannot ask again.
  const boxes = user.scopes.map((one) => {
    const checked = scope.includes(one) ? ' checked' : ''
    return `<p><label><input type="checkbox" name="scope" value="${one}"${checked}> ${one}</label></p>`
  })
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Shop: allow access</title>
<h1>Allow ${escapeHtml(clientName)} to use Shop as ${escapeHtml(user.name)}?</h1>
<p>${clientDomain === undefined ? 'Nobody has verified that name.' : `Published by <b>${escapeHtml(clientDomain)}</b>.`}
Access goes to <b>${escapeHtml(redirectHost)}</b>.</p>
${redirectIsLoopback ? '<p>That is a program on this computer: go on only if you have just started to sign in from it.</p>' : ''}
<form method="post" action="/authorize">
<input type="hidden" name="handle" value="${escapeHtml(handle)}">
${boxes.join('\n')}
<button name="decision" value="approve">Allow</button>
<button name="decision" value="deny">Deny</button>
</form>
</html>
`
}

/** Names and addresses are the client's own words. */
function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
