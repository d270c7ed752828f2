/** The supported platforms, in the order of their listing. */

import type { Target } from '../contract/target.ts'
import { printable, UsageError } from '../terminal/cli-error.ts'
import { orMeant } from '../terminal/command-line.ts'
import { bun } from './bun/target.ts'
import { cloudflare } from './cloudflare/target.ts'
import { deno } from './deno/target.ts'
import { lambda } from './lambda/target.ts'
import { netlify, netlifyEdge } from './netlify/target.ts'
import { node } from './node/target.ts'
import { supabase } from './supabase/target.ts'
import { vercel, vercelEdge } from './vercel/target.ts'

export const targets: ReadonlyMap<string, Target> = new Map([
  ['cloudflare', cloudflare],
  ['deno', deno],
  ['supabase', supabase],
  ['vercel', vercel],
  ['vercel-edge', vercelEdge],
  ['lambda', lambda],
  ['netlify', netlify],
  ['netlify-edge', netlifyEdge],
  ['bun', bun],
  ['node', node],
])

export const targetNames: string = [...targets.keys()].join(', ')

/** Throws `UsageError` for an unknown name. */
export function findTarget(name: string): Target {
  const target = targets.get(name)
  if (!target) {
    const remedy = orMeant(name, [...targets.keys()], `pass one of ${targetNames}`)
    throw new UsageError(`there is no target "${printable(name)}": ${remedy}`)
  }
  return target
}
