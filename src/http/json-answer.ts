/** Answers of endpoints that do not use MCP: a line of JSON that is not cached. */
import type { Body } from './body.ts'

export function jsonAnswer(
  status: number,
  body: object,
  headers?: { readonly [name: string]: string },
): Response {
  return Response.json(body, {
    status,
    headers: { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff', ...headers },
  })
}

/** The status for a body that cannot be used. */
export const BODY_STATUS: { readonly [fault in BodyFault]: number } = {
  'too-large': 413,
  'too-slow': 408,
  'not-utf8': 400,
  unreadable: 400,
}

export type BodyFault = Exclude<Body, { ok: true }>['fault']
