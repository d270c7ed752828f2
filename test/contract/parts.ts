/** The first uses of the parts that are loaded late: what to send, and what shows that it was answered. */
import { expect, it } from 'vitest'
import { BOTH_TYPES, legacyRequest, modernRequest } from './wire.ts'

const ELICITS = { meta: { 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } } }

export const FIRST_USES: { readonly [use: string]: readonly [send: (url: URL) => Request, answer: RegExp] } =
  {
    'a question beside a step': [
      (url) => modernRequest(url, 'tools/call', { name: 'ask' }, ELICITS),
      /"inputRequests":.*Your name\?.*"resultType":"input_required"/,
    ],
    'a step': [(url) => modernRequest(url, 'tools/call', { name: 'work' }), /"text":"worked"/],
    'a question to a legacy client': [
      (url) => legacyRequest(url, 'tools/call', { name: 'ask' }),
      /this client cannot be asked/,
    ],
    'the page': [(url) => new Request(url, { headers: { accept: 'text/html' } }), /<title>Parts/],
    'a stream of changes': [
      (url) => modernRequest(url, 'subscriptions/listen', { notifications: { toolsListChanged: true } }),
      /subscriptions\/acknowledged.*"resultType":"complete"/s,
    ],
    'a resource': [(url) => modernRequest(url, 'resources/read', { uri: 'note://7' }), /"text":"note 7"/],
    'a prompt': [
      (url) => modernRequest(url, 'prompts/get', { name: 'greet', arguments: { name: 'Ada' } }),
      /"text":"Greet Ada"/,
    ],
    'a suggestion': [
      (url) => {
        const ref = { type: 'ref/prompt', name: 'greet' }
        return modernRequest(url, 'completion/complete', { ref, argument: { name: 'name', value: 'A' } })
      },
      /"values":\["Ada"\]/,
    ],
    'a list of tools': [(url) => modernRequest(url, 'tools/list'), /"tools":\[\{"name":"plain"/],
    'a tool that calls another': [
      (url) => modernRequest(url, 'tools/call', { name: 'again' }),
      /"text":"plain again"/,
    ],
    'a health check': [(url) => new Request(new URL('/healthz', url)), /^\{"status":"ok"\}$/],
    'a body that is not UTF-8': [
      (url) => {
        const headers = { 'content-type': 'application/json', accept: BOTH_TYPES }
        return new Request(url, { method: 'POST', headers, body: new Uint8Array([0x22, 0xff, 0x22]) })
      },
      /"message":"Parse error: the body is not UTF-8."/,
    ],
    'a batch': [
      (url) =>
        new Request(url, {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            accept: BOTH_TYPES,
            'mcp-protocol-version': '2025-03-26',
          },
          body: JSON.stringify([{ jsonrpc: '2.0', id: 1, method: 'ping' }]),
        }),
      /^\[\{"jsonrpc":"2.0","id":1,"result":\{\}\}\]$/,
    ],
  }

/** @param start A fresh process or isolate, in which nothing was used. */
export function firstUses(start: () => Promise<{ url: URL; close: () => Promise<unknown> }>): void {
  it.each(Object.entries(FIRST_USES))(
    '%s: two requests at once are both answered, and the next one',
    async (_use, [send, answer]) => {
      const { url, close } = await start()
      try {
        const text = async (): Promise<string> => (await fetch(send(url))).text()
        const answers = await Promise.all([text(), text()])

        expect([...answers, await text()]).toEqual(Array(3).fill(expect.stringMatching(answer)))
      } finally {
        await close()
      }
    },
  )
}
