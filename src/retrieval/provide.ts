/** What a server provides to its retrieval tools: stores by name, and values from the client's `_meta`. */

import type { McpContext } from '../definition/context.ts'
import { isA } from '../definition/error-text.ts'
import { type Names, requireOptions } from '../definition/unknown-option.ts'
import { allOf, FilterError, parseFilter, toFilter } from './filter.ts'
import type { SearchableStore } from './store.ts'

export interface RetrievalValues {
  /** Stores by name, for tools with a `vectorStoreName`. */
  readonly vectorStores?: { readonly [name: string]: SearchableStore }
  /**
   * Members of the request's `_meta` that clients may set in the request context, such as `topK`. Any client may send any value, so do not
   * list a value that controls access.
   */
  readonly fromMeta?: readonly string[]
}

const VALUES: Names<RetrievalValues> = { vectorStores: 'object', fromMeta: 'strings' }

/** Values that are objects of this server, never from a client. */
const NEVER = ['vectorStores', 'vectorStore', 'reranker', 'databaseConfig', 'providerOptions', 'user']

/**
 * Creates a `setup` that fills the request context, which tools read as `ctx.requestContext`. Existing values are kept: a client cannot
 * replace them, and its `filter` is combined with the server's by `and`.
 *
 * @throws TypeError for a name in `fromMeta` that a client must not set.
 *
 * ```ts
 * const setup = provideRetrieval({ vectorStores: { docs: store }, fromMeta: ['topK'] })
 * ```
 */
export function provideRetrieval(
  values: RetrievalValues,
): (server: { readonly context: Pick<McpContext, 'requestContext' | '_meta'> }) => void {
  requireOptions('provideRetrieval', values, VALUES)
  const { vectorStores, fromMeta = [] } = values
  const wrong = fromMeta.find((key) => NEVER.includes(key) || key.startsWith('mcp.'))
  if (wrong !== undefined)
    throw new TypeError(`"fromMeta" must not contain "${wrong}": a client must not set it.`)
  const stores = vectorStores && hidden(vectorStores)
  return ({ context }) => {
    const { requestContext, _meta: meta = {} } = context
    if (stores !== undefined) requestContext.set('vectorStores', stores)
    for (const key of fromMeta) {
      if (!Object.hasOwn(meta, key)) continue
      const given = (meta as { readonly [key: string]: unknown })[key]
      if (key === 'filter') requestContext.set(key, joined(requestContext.get(key), given))
      else if (!requestContext.has(key)) requestContext.set(key, given)
    }
  }
}

/** Request context values are stored with workflow runs and traced as JSON, which must not contain a store's secrets. */
function hidden(stores: object): object {
  const members = Object.entries(stores).map(([name, value]) => [name, { value, enumerable: false }] as const)
  return Object.create(null, Object.fromEntries(members)) as object
}

/** An invalid client filter makes the whole filter invalid; each search tool then refuses it with a message. */
function joined(own: unknown, given: unknown): unknown {
  const server = parseFilter(own)
  try {
    const condition = allOf([server, parseFilter(given)])
    return condition && toFilter(condition)
  } catch (error) {
    if (!isA(error, FilterError)) throw error
    return server === undefined ? given : { $and: [toFilter(server), given] }
  }
}
