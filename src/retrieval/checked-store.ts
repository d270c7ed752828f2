/** Refuses misspelt options in the methods of this package's stores: a query without its `filter` returns every row. */
import { type Names, refuseMisspelt, refuseUnknown } from '../definition/unknown-option.ts'
import type { CreateIndexParams, QueryParams, UpsertParams, VectorStore } from './store.ts'

/** The names that every query has. */
export const QUERY_OPTIONS: Names<QueryParams> = {
  indexName: 'string',
  queryVector: 'object',
  topK: [1],
  filter: 1,
  includeVector: 'boolean',
}

const CREATE: Names<CreateIndexParams> = {
  indexName: 'string',
  dimension: [1],
  metric: { cosine: 1, euclidean: 1, dotproduct: 1 },
}
const UPSERT: Names<UpsertParams> = {
  indexName: 'string',
  vectors: 'object',
  metadata: 'object',
  ids: 'strings',
}

const METHODS: { readonly [method in keyof VectorStore]?: object } = {
  createIndex: CREATE,
  upsert: UPSERT,
  deleteVector: { indexName: 'string', id: 'string' },
  deleteVectors: { indexName: 'string', ids: 'strings' },
  describeIndex: { indexName: 'string' },
  indexVersion: { indexName: 'string' },
  listIds: { indexName: 'string', prefix: 'string' },
}

/**
 * `store`, whose methods reject with a TypeError for an unknown option. `query` takes the options of other stores, too, since a tool may
 * have several: it only refuses what looks like one of its own.
 */
export function checkedStore<Store extends Omit<VectorStore, 'listIds'>>(
  name: string,
  store: Store,
  queryOptions: object,
): Store {
  const check = (method: string, refuse: (where: string, params: object) => void): void => {
    const own: unknown = Reflect.get(store, method)
    if (typeof own !== 'function') return
    Reflect.set(store, method, async (params: object) => {
      refuse(`${method} of ${name}`, params)
      return own.call(store, params)
    })
  }
  for (const [method, known] of Object.entries(METHODS))
    check(method, (where, params) => refuseUnknown(where, params, known))
  check('query', (where, params) => refuseMisspelt(where, params, queryOptions))
  return store
}
