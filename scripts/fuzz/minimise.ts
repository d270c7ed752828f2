/**
 * Makes an input that breaks a promise as small as possible, so that it still breaks the same one (delta debugging).
 */
import { tryOut } from './execute.ts'
import type { Input, Target } from './target.ts'

/** Milliseconds after which minimising stops. */
const LIMIT_MS = 5000

/** Identifies a finding: the message without text from the input, or the first place in our own code. */
export function kindOf(error: Error): string {
  const cause = error.cause instanceof Error ? error.cause : error
  const place = /\((?:file:\/\/)?[^\s)]*\/(src\/[^)]+)\)/.exec(cause.stack ?? '')?.[1] ?? ''
  return `${error.message.replace(/[:\d"].*$/s, '')} ${place}`
}

export async function minimise(target: Target, input: Input, error: Error): Promise<Input> {
  const kind = kindOf(error)
  const until = Date.now() + LIMIT_MS
  let smallest = input
  for (let field = 0; field < input.length; field++) {
    for (let size = Math.ceil(smallest[field]!.length / 2); size > 0; size = Math.floor(size / 2)) {
      for (let at = 0; at < smallest[field]!.length && Date.now() < until; ) {
        const text = smallest[field]!
        const shorter = smallest.with(field, text.slice(0, at) + text.slice(at + size))
        const failure = await tryOut(target, shorter)
        if (failure instanceof Error && kindOf(failure) === kind) smallest = shorter
        else at += size
      }
    }
  }
  return smallest
}
