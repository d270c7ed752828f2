/** Loads the page that describes a server. */
import type * as page from './page-part.ts'

export const loadPage = (): Promise<typeof page> => import('./page-part.ts')
