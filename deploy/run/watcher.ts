/** Where the module is that local servers load first. */
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'

/** `.ts` from source, `.js` from dist/. */
export const WATCHER: string = fileURLToPath(
  new URL(`./watch-repeated-work${extname(import.meta.url)}`, import.meta.url),
)
