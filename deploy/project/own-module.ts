/**
 * Files of this package that are started, served or bundled by their path. The build reads their names from the calls, and gives each a file
 * of its own in dist/ (scripts/entries.mjs); other modules share files there, and do not know where they are.
 */
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'

/** `.ts` from source, `.js` from dist/. */
export const EXTENSION: string = extname(import.meta.url)

/** Absolute path of a module, such as `deploy/run/stdio-host`. */
export function ownModule(module: string): string {
  return fileURLToPath(new URL(`../../${module}${EXTENSION}`, import.meta.url))
}
