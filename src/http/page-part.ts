/** What `GET /` needs: a part that is loaded then. Only `loadPage` imports it. */
export { PAGE_CSP, renderPage } from './page.ts'
export { toPageModel } from './page-model.ts'
