/** The span of the client that sent a request. */
import { type Context, propagation, ROOT_CONTEXT, type TextMapGetter } from '@opentelemetry/api'
import type { TracedRequest } from '../request/telemetry.ts'

const FROM_META: TextMapGetter<{ readonly [name: string]: unknown }> = {
  keys: (meta) => Object.keys(meta),
  get: (meta, key) => (typeof meta[key] === 'string' ? meta[key] : undefined),
}

const FROM_HEADERS: TextMapGetter<Headers> = {
  keys: (headers) => [...headers.keys()],
  get: (headers, key) => headers.get(key) ?? undefined,
}

/** `_meta` takes precedence over the headers, which proxies also write. */
export function parentOf({ params, headers }: Pick<TracedRequest, 'params' | 'headers'>): Context {
  const meta = params._meta
  if (typeof meta === 'object' && meta !== null && 'traceparent' in meta) {
    return propagation.extract(ROOT_CONTEXT, meta as { readonly [name: string]: unknown }, FROM_META)
  }
  return propagation.extract(ROOT_CONTEXT, headers, FROM_HEADERS)
}
