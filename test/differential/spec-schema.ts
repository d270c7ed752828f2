/**
 * Validates what a server sends with the schemas the official SDKs export: v2's `specTypeSchemas` for 2026-07-28, v1's
 * zod schemas for the revisions before it. Besides being valid, a message must come out of the schema as it went in: a
 * member that the schema drops is one the specification does not know.
 */
import { isDeepStrictEqual } from 'node:util'
import * as v1 from '@modelcontextprotocol/sdk/types.js'
import { type SpecTypeName, specTypeSchemas } from '@modelcontextprotocol/server'
import type { JsonObject } from './observe.ts'

/** What the message belongs to. */
export interface Exchanged {
  readonly era: 'modern' | 'legacy'
  /** The method of the request. */
  readonly method: string
}

/** The common shape of both SDKs' schemas. */
interface SpecSchema {
  readonly '~standard': {
    validate(value: unknown):
      | { readonly value: unknown; readonly issues?: undefined }
      | {
          readonly issues: readonly {
            readonly message: string
            readonly path?: readonly unknown[] | undefined
          }[]
        }
      | Promise<unknown>
  }
}

interface EraSchemas {
  readonly envelope: {
    readonly result: SpecSchema
    readonly error: SpecSchema
    readonly notification: SpecSchema
  }
  /** By method of the request. */
  readonly results: { readonly [method: string]: SpecSchema }
  readonly notifications: { readonly [method: string]: SpecSchema }
}

const modernSchema = (name: SpecTypeName): SpecSchema => specTypeSchemas[name] as SpecSchema

const SCHEMAS: { readonly [E in Exchanged['era']]: EraSchemas } = {
  modern: {
    envelope: {
      result: modernSchema('JSONRPCResultResponse'),
      error: modernSchema('JSONRPCErrorResponse'),
      notification: modernSchema('JSONRPCNotification'),
    },
    results: {
      'server/discover': modernSchema('DiscoverResult'),
      'tools/list': modernSchema('ListToolsResult'),
      'tools/call': modernSchema('CallToolResult'),
      'resources/list': modernSchema('ListResourcesResult'),
      'resources/templates/list': modernSchema('ListResourceTemplatesResult'),
      'resources/read': modernSchema('ReadResourceResult'),
      'prompts/list': modernSchema('ListPromptsResult'),
      'prompts/get': modernSchema('GetPromptResult'),
      'completion/complete': modernSchema('CompleteResult'),
      'subscriptions/listen': modernSchema('SubscriptionsListenResult'),
    },
    notifications: {
      'notifications/progress': modernSchema('ProgressNotification'),
      'notifications/message': modernSchema('LoggingMessageNotification'),
      'notifications/subscriptions/acknowledged': modernSchema('SubscriptionsAcknowledgedNotification'),
      'notifications/tools/list_changed': modernSchema('ToolListChangedNotification'),
      'notifications/prompts/list_changed': modernSchema('PromptListChangedNotification'),
      'notifications/resources/list_changed': modernSchema('ResourceListChangedNotification'),
      'notifications/resources/updated': modernSchema('ResourceUpdatedNotification'),
    },
  },
  legacy: {
    envelope: {
      result: v1.JSONRPCResultResponseSchema,
      error: v1.JSONRPCErrorResponseSchema,
      notification: v1.JSONRPCNotificationSchema,
    },
    results: {
      initialize: v1.InitializeResultSchema,
      ping: v1.EmptyResultSchema,
      'logging/setLevel': v1.EmptyResultSchema,
      'resources/subscribe': v1.EmptyResultSchema,
      'resources/unsubscribe': v1.EmptyResultSchema,
      'tools/list': v1.ListToolsResultSchema,
      'tools/call': v1.CallToolResultSchema,
      'resources/list': v1.ListResourcesResultSchema,
      'resources/templates/list': v1.ListResourceTemplatesResultSchema,
      'resources/read': v1.ReadResourceResultSchema,
      'prompts/list': v1.ListPromptsResultSchema,
      'prompts/get': v1.GetPromptResultSchema,
      'completion/complete': v1.CompleteResultSchema,
    },
    notifications: {
      'notifications/progress': v1.ProgressNotificationSchema,
      'notifications/message': v1.LoggingMessageNotificationSchema,
    },
  },
}

/** Results that carry cache hints (2026-07-28, schema.ts, `CacheableResult`). */
const CACHEABLE = /^server\/discover$|\/list$|^resources\/read$/

/** What is wrong with a message a server sent; empty when nothing is. */
export function specFaults(message: JsonObject, { era, method }: Exchanged): readonly string[] {
  const { envelope, results, notifications } = SCHEMAS[era]
  if ('error' in message) return check(envelope.error, message, 'error')
  if ('method' in message) {
    const { jsonrpc: _, ...notification } = message
    const schema = notifications[String(message.method)]
    if (schema === undefined) return [`${String(message.method)}: not a notification a server sends`]
    return [
      ...check(envelope.notification, message, 'notification'),
      ...check(schema, notification, 'notification'),
    ]
  }
  const schema = results[method]
  if (schema === undefined) return [`${method}: has no result in the ${era} era`]
  const result = message.result as JsonObject
  return [
    ...check(envelope.result, message, 'response'),
    ...check(schema, result, method),
    ...(era === 'modern' ? wireFaults(result, method) : []),
  ]
}

/** The exported schemas model what applications see: what only the wire carries is checked here. */
function wireFaults(result: JsonObject, method: string): string[] {
  const faults: string[] = []
  const meta = (result._meta ?? {}) as JsonObject
  if (result.resultType !== 'complete') faults.push(`${method}: resultType is ${String(result.resultType)}`)
  faults.push(
    ...check(
      modernSchema('Implementation'),
      meta['io.modelcontextprotocol/serverInfo'],
      `${method} serverInfo`,
    ),
  )
  if (!CACHEABLE.test(method)) return faults
  const { ttlMs, cacheScope } = result
  if (!(Number.isSafeInteger(ttlMs) && Number(ttlMs) >= 0))
    faults.push(`${method}: ttlMs is ${String(ttlMs)}`)
  if (cacheScope !== 'public' && cacheScope !== 'private')
    faults.push(`${method}: cacheScope is ${String(cacheScope)}`)
  return faults
}

function check(schema: SpecSchema, value: unknown, label: string): string[] {
  const outcome = schema['~standard'].validate(value)
  if (outcome instanceof Promise) throw new TypeError(`The schema of ${label} is asynchronous.`)
  if (outcome.issues !== undefined) {
    return outcome.issues.map(({ path = [], message }) => `${label}: ${path.join('.')} ${message}`)
  }
  return isDeepStrictEqual(outcome.value, value)
    ? []
    : [`${label}: has members that the specification does not know: ${JSON.stringify(value)}`]
}
