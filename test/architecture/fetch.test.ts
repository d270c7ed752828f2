import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { type Module, parseModule, readModules, walk } from './_modules.ts'

const MAY_FETCH = [
  // Limits time and size, and protects the process of Node from hostile encodings.
  'src/definition/bounded-fetch.ts',
  // The same, for streams.
  'src/client/guarded-fetch.ts',
  // Passes the global one to the above.
  'src/sign-in/sign-in.ts',
]

/** Calls of the global `fetch`, or it in place of one of the user's, and timers that fire after a request has failed, which on Node ends the process. */
function unboundedIn({ file, source }: Module): string[] {
  const found: string[] = []
  walk(source, (node) => {
    if (ts.isBinaryExpression(node) && /\?\? (globalThis\.)?fetch$/.test(node.getText(source)))
      found.push(`${file}: ?? fetch`)
    if (!ts.isCallExpression(node)) return
    const name = node.expression.getText(source)
    if (/^(globalThis\.)?fetch$/.test(name) || name === 'AbortSignal.timeout') found.push(`${file}: ${name}`)
  })
  return found
}

describe('requests to other servers', () => {
  it('of src and adapters go through boundedFetch', () => {
    const modules = [...readModules('src'), ...readModules('adapters')]
    expect(modules.filter(({ file }) => !MAY_FETCH.includes(file)).flatMap(unboundedIn)).toEqual([])
  })

  it('by themselves or with a signal of their own are found', () => {
    const text =
      'fetch(url, { signal: AbortSignal.timeout(1) }); globalThis.fetch(url); server.fetch(request); const send = given.fetch ?? fetch'
    expect(unboundedIn(parseModule('x.ts', text))).toEqual([
      'x.ts: fetch',
      'x.ts: AbortSignal.timeout',
      'x.ts: globalThis.fetch',
      'x.ts: ?? fetch',
    ])
  })
})
