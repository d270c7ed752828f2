/** The execution context of a Hono context. Hono throws if there is none. */
export function executionContextOf(c: { readonly executionCtx?: unknown }): unknown {
  try {
    return c.executionCtx
  } catch {
    return undefined
  }
}
