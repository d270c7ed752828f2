/** The pages of sign-in as HTML. */
import { html, raw } from '../http/html.ts'
import type { SignInPage } from './pages-model.ts'

/** A whole HTML document. */
export function renderPage(page: SignInPage): string {
  const fields =
    'fields' in page
      ? Object.entries(page.fields).map(
          ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
        )
      : []
  return html`${raw('<!doctype html>')}<html lang="en"><title>${page.server}</title><pre>${JSON.stringify(page, null, 2)}</pre><form method="post" action="${'action' in page ? page.action : ''}">${fields}</form></html>`
    .markup
}
