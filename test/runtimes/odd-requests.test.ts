/** Requests that only a broken client or a scanner sends: each runtime passes them on differently, and none may answer with a 5xx. */
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bun } from '../../deploy/targets/bun/target.ts'
import { deno } from '../../deploy/targets/deno/target.ts'
import { netlify, netlifyEdge } from '../../deploy/targets/netlify/target.ts'
import { node } from '../../deploy/targets/node/target.ts'
import { supabase } from '../../deploy/targets/supabase/target.ts'
import { type ServedArtefact, serveArtefact } from './_artefact.ts'
import { plainBun, plainDeno } from './_plain.ts'

const FIXTURE = 'test/contract/fixture.ts'

const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}'
const HEAD = `content-type: application/json\r\naccept: application/json\r\nmcp-protocol-version: 2025-06-18\r\ncontent-length: ${PING.length}\r\nconnection: close\r\n`

/** What is sent, and the statuses that a runtime or the server may answer it with. */
const ODD: readonly (readonly [name: string, text: (path: string) => string, allowed: readonly number[]])[] =
  [
    ...['a b', '[::1', '%zz', '127.0.0.1:99999', 'evil.example@127.0.0.1', 'a/b?c#d'].map(
      (host) =>
        [
          `Host: ${host}`,
          (path: string) => `POST ${path} HTTP/1.1\r\nhost: ${host}\r\n${HEAD}\r\n${PING}`,
          [400, 403],
        ] as const,
    ),
    // In the rest, a runtime may take the first Host or its own address, or read the target as a path.
    ['an empty Host', (path) => `POST ${path} HTTP/1.1\r\nhost: \r\n${HEAD}\r\n${PING}`, [200, 400, 403]],
    [
      'two Hosts',
      (path) => `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nhost: evil.example\r\n${HEAD}\r\n${PING}`,
      [200, 400, 403],
    ],
    ['HTTP/1.0 without a Host', (path) => `POST ${path} HTTP/1.0\r\n${HEAD}\r\n${PING}`, [200, 400, 403]],
    [
      'an invalid absolute target',
      (path) => `POST http://[${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n${HEAD}\r\n${PING}`,
      [200, 400, 403, 404],
    ],
    [
      'TRACE',
      (path) => `TRACE ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n`,
      [400, 405, 501],
    ],
  ]

const NORMAL = (path: string, port: string): string =>
  `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n${HEAD}\r\n${PING}`

describe.each([
  ['bun', bun],
  ['bun, the plain default export', plainBun],
  ['deno', deno],
  ['deno, the plain default export', plainDeno],
  ['node', node],
  ['netlify', netlify],
  ['netlify-edge', netlifyEdge],
  ['supabase', supabase],
] as const)('%s', (_name, target) => {
  let served: ServedArtefact
  beforeAll(async () => {
    served = await serveArtefact(FIXTURE, target)
  })
  afterAll(() => served?.stop())

  it.each(ODD)(
    '%s → refused in one line, and the next request is served [guard.request-target]',
    async (_what, text, allowed) => {
      const { pathname, port } = served.url
      const answer = await exchange(Number(port), text(pathname))
      expect(allowed).toContain(answer.status)
      expect(answer.body.length).toBeLessThan(400)
      expect(answer.body).not.toMatch(/<html|node_modules|\bat .*:\d+/i)
      expect(await exchange(Number(port), NORMAL(pathname, port))).toMatchObject({ status: 200 })
    },
  )
})

/** Sends bytes that no HTTP client would send. */
async function exchange(port: number, text: string): Promise<{ status: number; body: string }> {
  const socket = connect(port, '127.0.0.1')
  socket.write(text)
  let seen = ''
  for await (const chunk of socket) seen += String(chunk)
  const at = seen.indexOf('\r\n\r\n')
  return { status: Number(seen.slice(9, 12)), body: seen.slice(at + 4) }
}
