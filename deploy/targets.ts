/** The platforms `mayfly dev --target` knows. */
import { cloudflare } from './cloudflare/dev.ts'
import { node } from './node/dev.ts'
import type { Target } from './target.ts'

export const targets: ReadonlyMap<string, Target> = new Map([
  ['cloudflare', cloudflare],
  ['node', node],
])
