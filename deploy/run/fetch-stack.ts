/** Some versions of Node, and workerd, throw the error of a failed `fetch` without the calls that led there. */

import { isA, stackOf } from '../../src/definition/error-text.ts'

const OF_RUNTIME = / at (?:process\.|\S* ?\(?node:)/

/** Adds to such errors of this process where `fetch` was called. */
export function keepFetchStack(): void {
  const { fetch } = globalThis
  globalThis.fetch = async (...args) => {
    const here = new Error()
    try {
      return await fetch(...args)
    } catch (error) {
      if (isA(error, Error)) addCalls(error, here)
      throw error
    }
  }
}

function addCalls(error: Error, here: Error): void {
  const calls = (stack = ''): string[] => stack.split('\n').filter((line) => line.startsWith('    at '))
  if (calls(stackOf(error)).some((line) => !OF_RUNTIME.test(line))) return
  // The first call is the function above.
  const added = calls(stackOf(here)).slice(1)
  try {
    error.stack = [stackOf(error), ...added].join('\n')
  } catch {
    // Frozen, or of a class that computes it.
  }
}
