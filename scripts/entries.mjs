/** The modules that have a file of their own in dist/, at the path of their source, because something names it. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** What bundlers of users' code replace by its path: `mayfly build` and `mayfly doctor` (deploy/build, deploy/doctor). */
const REPLACED = ['adapters/_node/packages', 'src/definition/option-kind']

/** Knows where it is: the paths of other modules start from it. */
const PLACED = 'deploy/project/own-module'

/** They have a file to themselves, which others import, instead of one that hands on what another file has. */
export const ALONE = [...REPLACED, PLACED]

/** What users import, as in package.json, without folder and extension: `src/index`. */
export function published({ exports }) {
  const files = Object.values(exports).flatMap((entry) =>
    typeof entry === 'string'
      ? []
      : Object.entries(entry).flatMap(([key, file]) => (key === 'types' ? [] : file)),
  )
  return [...new Set(files)].map((file) => file.replace(/^\.\/dist\//, '').replace(/\.js$/, ''))
}

/** What the command line starts or bundles by its path: `deploy/run/stdio-host`. The page is loaded by tests. */
export function started(root) {
  const files = readdirSync(join(root, 'deploy'), { recursive: true }).filter((file) => file.endsWith('.ts'))
  const named = files.flatMap((file) =>
    Array.from(
      readFileSync(join(root, 'deploy', file), 'utf8').matchAll(/\bownModule\('([^']+)'\)/g),
      ([, module]) => module,
    ),
  )
  return [...new Set(['deploy/cli', 'deploy/playground/page', ...named])].sort()
}
