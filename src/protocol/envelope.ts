/**
 * The per-request `_meta` of 2026-07-28: the client, its protocol version and its capabilities.
 */

import {
  type ClientCapabilities,
  type Implementation,
  LOG_LEVELS,
  type LogLevel,
} from '../definition/context.ts'
import { isObject } from '../definition/is-object.ts'
import { ErrorCode, ProtocolError } from '../definition/protocol-error.ts'
import { optionalObjectParam, type Params } from '../request/params.ts'

export const META = {
  protocolVersion: 'io.modelcontextprotocol/protocolVersion',
  clientInfo: 'io.modelcontextprotocol/clientInfo',
  clientCapabilities: 'io.modelcontextprotocol/clientCapabilities',
  logLevel: 'io.modelcontextprotocol/logLevel',
  serverInfo: 'io.modelcontextprotocol/serverInfo',
  subscriptionId: 'io.modelcontextprotocol/subscriptionId',
} as const

export interface Envelope {
  readonly protocolVersion: string
  readonly clientInfo: Implementation | undefined
  readonly clientCapabilities: ClientCapabilities
  readonly logLevel: LogLevel | undefined
}

/** Whether the parameters contain a modern envelope, valid or not. This makes a request modern. */
export function hasEnvelope(params: Params): boolean {
  const { _meta: meta } = params
  return typeof meta === 'object' && meta !== null && Object.hasOwn(meta, META.protocolVersion)
}

/** The version in a message's envelope. Undefined without an envelope. @throws ProtocolError `-32602`, HTTP 400. */
export function readVersion({ _meta }: Params): string {
  const version = isObject(_meta) ? _meta[META.protocolVersion] : undefined
  if (typeof version !== 'string') throw noVersion()
  return version
}

function noVersion(): ProtocolError {
  return malformed(`"_meta" needs a string "${META.protocolVersion}"`)
}

/** @throws ProtocolError `-32602`, HTTP 400, naming the missing or wrong field. */
export function readEnvelope(params: Params): Envelope {
  const meta = params._meta
  if (!isObject(meta)) throw malformed('"_meta" is missing')
  const protocolVersion = meta[META.protocolVersion]
  if (typeof protocolVersion !== 'string') throw noVersion()
  const clientInfo = meta[META.clientInfo]
  const clientCapabilities = meta[META.clientCapabilities]
  const logLevel = meta[META.logLevel]
  if (!isObject(clientCapabilities)) throw malformed(`"_meta" needs an object "${META.clientCapabilities}"`)
  for (const name in clientCapabilities)
    if (!isObject(clientCapabilities[name]))
      throw malformed(`every member of "${META.clientCapabilities}" must be an object`)
  if (clientInfo !== undefined && !isImplementation(clientInfo)) {
    throw malformed(`"${META.clientInfo}" needs a string "name" and a string "version"`)
  }
  if (logLevel !== undefined && !isLogLevel(logLevel))
    throw malformed(`"${META.logLevel}" must be one of ${LOG_LEVELS.join(', ')}`)
  return { protocolVersion, clientInfo, clientCapabilities, logLevel }
}

/** `progressToken`, in both eras. @throws ProtocolError `-32602` unless it is a string or an integer. */
export function readProgressToken(params: Params): string | number | undefined {
  const token = optionalObjectParam(params, '_meta').progressToken
  if (token === undefined || typeof token === 'string' || Number.isSafeInteger(token))
    return token as string | number | undefined
  throw new ProtocolError(
    ErrorCode.invalidParams,
    'Invalid params: "_meta.progressToken" must be a string or an integer.',
  )
}

export function isImplementation(value: unknown): value is Implementation {
  return isObject(value) && typeof value.name === 'string' && typeof value.version === 'string'
}

export function isLogLevel(value: unknown): value is LogLevel {
  return (LOG_LEVELS as readonly unknown[]).includes(value)
}

function malformed(reason: string): ProtocolError {
  return new ProtocolError(ErrorCode.invalidParams, `Invalid params: ${reason}.`, undefined, { status: 400 })
}
