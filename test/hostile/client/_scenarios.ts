/** What must not become of a client that meets a hostile server, on any platform. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { RunningWorker } from '../../runtimes/client/_scenarios.ts'
import {
  crossed,
  dripping,
  endlessEvent,
  endlessJson,
  endlessLines,
  endlessList,
  failing,
  gzipBomb,
  hugeJson,
  lingering,
  NO_ANSWERS,
  onCall,
  redirecting,
  reopening,
  silent,
  unfinished,
  withSessionId,
} from '../server/answers.ts'
import { type Astray, collector, told, wantingToken } from '../server/authorization.ts'
import { endingSubscriptions, FLOODS, flooding } from '../server/floods.ts'
import { duplicates, malformed, TEDIOUS_SCHEMAS, withOutput } from '../server/lists.ts'
import { type Asking, asking, askingInCall, askingModern, askUnsolicited } from '../server/questions.ts'
import { type Era, type HostileServer, startHostile } from '../server/server.ts'
import type { Told, Visit } from './_worker.ts'

const MIB = 1024 * 1024
const ERAS: readonly Era[] = ['legacy', 'modern']
const TYPED = /^(REQUEST_FAILED|TIMEOUT|CONNECTION_FAILED|RESPONSE_TOO_LARGE)$/
const HELLO = { content: [{ text: 'Hello' }] }

export function hostileScenarios(platform: string, start: () => Promise<RunningWorker>): void {
  describe(`hostile servers, and MCPClient on ${platform}`, { timeout: 60_000 }, () => {
    let worker: RunningWorker
    beforeAll(async () => {
      worker = await start()
    })
    afterAll(() => worker?.stop())

    const meet = async <Server extends HostileServer>(
      starting: Promise<Server>,
      how: Omit<Visit, 'url'> = {},
    ): Promise<Told & { readonly server: Server }> => {
      const server = await starting
      onTestFinished(() => server[Symbol.asyncDispose]())
      const params = { name: 'visit', arguments: { url: server.url, ...how } }
      const response = await worker.post({
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
      })
      const text = await response.text()
      expect(response.status, text).toBe(200)
      const { result } = JSON.parse(text) as { result: { structuredContent: Told; isError?: boolean } }
      expect(result.isError, text).not.toBe(true)
      expect(result.structuredContent.isPolluted).toBe(false)
      return { ...result.structuredContent, server }
    }

    it.each<[string, () => Promise<HostileServer>]>([
      ['JSON without end', () => endlessJson()],
      ['JSON without end, modern', () => endlessJson('modern')],
      ['a line without end', () => endlessEvent()],
      ['a line without end, modern', () => endlessEvent('modern')],
      ['lines without end', endlessLines],
      ['what unpacks without end', gzipBomb],
      ['9 MiB', () => hugeJson(9 * MIB)],
    ])('%s → RESPONSE_TOO_LARGE, and little more is taken', async (_what, startServer) => {
      const { outcomes, server } = await meet(startServer())

      expect(outcomes).toEqual(['RESPONSE_TOO_LARGE'])
      expect(server.sentBytes()).toBeLessThan(40 * MIB)
      await expect.poll(() => server.openAnswers()).toBe(0)
    })

    it('a list without end → an error', async () => {
      const large = await meet(endlessList(10, 'd'.repeat(100_000)), { steps: ['list'] })
      const long = await meet(endlessList(1), { steps: ['list'] })

      expect(large.outcomes).toEqual(['RESPONSE_TOO_LARGE'])
      expect(long.outcomes).toEqual(['REQUEST_FAILED'])
      expect(long.server.seen.filter(({ body }) => body.includes('tools/list')).length).toBeLessThan(110)
    })

    it.each(ERAS)('answers that never come (%s) → TIMEOUT, and no connection is kept', async (era) => {
      for (const startServer of [dripping, silent]) {
        const { outcomes, server } = await meet(startServer(era), { timeoutMs: 500 })

        expect(outcomes).toEqual(['TIMEOUT'])
        await expect.poll(() => server.openAnswers()).toBe(0)
      }
    })

    it.each(ERAS)('a stream that ends without its answer (%s) fails the call at once', async (era) => {
      const { outcomes, tookMs } = await meet(unfinished(era))

      expect(outcomes).toEqual(['REQUEST_FAILED'])
      expect(tookMs).toBeLessThan(5000)
    })

    it('a stream that goes on after its answer, and one that wants to be opened again and again', async () => {
      const { outcomes } = await meet(lingering())
      expect(outcomes).toMatchObject([HELLO])
      for (const retryMs of [0, 99_999_999_999]) {
        const { outcomes: again, server } = await meet(reopening(retryMs), { timeoutMs: 1500 })

        expect(again).toEqual([expect.stringMatching(TYPED)])
        expect(server.seen.filter(({ method }) => method === 'GET').length).toBeLessThan(12)
      }
    })

    it.each(Object.entries(NO_ANSWERS))(
      '%s → a typed error, and the next call is answered',
      async (_what, act) => {
        let isFirst = true
        const { outcomes } = await meet(
          onCall((exchange) => {
            if (!isFirst) return exchange.result({ content: [{ type: 'text', text: 'Hello' }] })
            isFirst = false
            return act(exchange)
          }),
          { timeoutMs: 1000, steps: ['call', 'call'] },
        )

        expect(outcomes).toMatchObject([expect.stringMatching(TYPED), HELLO])
      },
    )

    it('strangers’ answers, redirects and session ids', async () => {
      expect((await meet(crossed())).outcomes).toMatchObject([HELLO])
      const elsewhere = await collector()
      onTestFinished(() => elsewhere[Symbol.asyncDispose]())
      for (const status of [301, 307, 308]) {
        const { outcomes } = await meet(redirecting(status, elsewhere.url), { hasSecrets: true })
        expect(outcomes).toEqual([expect.stringMatching(TYPED)])
      }
      expect(elsewhere.seen).toEqual([])
      for (const id of ['a b', 'caf\u00e9', 'x'.repeat(5000)]) {
        expect((await meet(withSessionId(id))).outcomes).toEqual(['CONNECTION_FAILED'])
      }
    })

    it('an error’s text is shown on one line', async () => {
      const { texts } = await meet(failingLists(`\u001b[2J\nERROR\u202e${'!'.repeat(10_000)}`), {
        steps: ['list'],
      })

      expect(texts).toHaveLength(1)
      expect(texts[0]).not.toMatch(/[\p{Cc}\p{Cf}]/u)
      expect(texts[0]!.length).toBeLessThan(2000)
      expect((await meet(failing(500, '\u001b[2J'))).outcomes).toEqual(['REQUEST_FAILED'])
    })

    it.each(ERAS)('malformed tools, and two of one name (%s)', async (era) => {
      expect(await meet(malformed(era), { steps: ['list', 'call'] })).toMatchObject({
        outcomes: [['evil_hello'], HELLO],
        reported: ['MALFORMED'],
      })
      expect(await meet(duplicates(era), { steps: ['list'] })).toMatchObject({
        outcomes: [['evil_hello']],
        reported: ['NAME_COLLISION'],
      })
    })

    it.each(Object.entries(TEDIOUS_SCHEMAS))(
      'an outputSchema that would take for ever (%s)',
      async (_what, [schema, value]) => {
        const { outcomes, tookMs } = await meet(withOutput(schema, value), { steps: ['list', 'call'] })

        expect(outcomes[1]).toMatchObject({ content: [{ type: 'text' }] })
        expect(tookMs).toBeLessThan(5000)
      },
    )

    it('questions: for no call, thousands at once, on a handler that throws', async () => {
      const unsolicited: { server?: Asking } = {}
      const asksElsewhere = asking(() => {
        if (unsolicited.server !== undefined) void askUnsolicited(unsolicited.server, 'q')
      }).then((server) => {
        unsolicited.server = server
        return server
      })
      const idle = await meet(asksElsewhere, { user: 'is silent', timeoutMs: 800 })
      expect(idle.outcomes).toEqual(['TIMEOUT'])
      expect(idle.tookMs).toBeLessThan(5000)

      const many = await meet(askingInCall(3000), { user: 'throws', timeoutMs: 1500 })
      expect(many.questions).toBeLessThan(33)
      expect(JSON.stringify([...many.server.answers.values()])).not.toContain('secret')
      expect(new Set(many.reported)).toEqual(new Set(['LISTENER_FAILED', 'MALFORMED']))

      const modern = await meet(askingModern(5000), { user: 'declines' })
      expect(modern).toMatchObject({ outcomes: ['REQUEST_FAILED'], questions: 0 })
    })

    it.each(Object.entries(FLOODS))('a flood of %s', async (_what, make) => {
      const { outcomes, changes, reported, server } = await meet(
        flooding(make, (flood) => flood(3000)),
        {
          steps: ['watch', 'call', 'call'],
          timeoutMs: 30_000,
        },
      )

      expect(outcomes).toMatchObject(['watching', HELLO, HELLO])
      expect(changes).toBeLessThan(20)
      expect(reported.length).toBeLessThan(12)
      expect(server.seen.length).toBeLessThan(200)
    })

    it('a call is not made again for a word, nor a subscription without end', async () => {
      let runs = 0
      const spoken = await meet(
        onCall(({ response }) => {
          runs++
          response.writeHead(400).end('The checkout session is closed.')
        }),
      )
      expect(spoken.outcomes).toEqual(['REQUEST_FAILED'])
      expect(runs).toBe(1)

      const { server } = await meet(endingSubscriptions(), { steps: ['watch', 'call', 'call'] })
      expect(server.seen.length).toBeLessThan(12)
    })

    it('secrets go to the server’s own origin alone', async () => {
      const elsewhere = await collector()
      const other = await wantingToken()
      onTestFinished(() => elsewhere[Symbol.asyncDispose]())
      onTestFinished(() => other[Symbol.asyncDispose]())
      for (const astray of [
        { metadataUrl: `${elsewhere.origin}/metadata` },
        { issuer: elsewhere.origin },
        { issuer: other.origin },
        { endpoints: { registration_endpoint: `${elsewhere.origin}/register` } },
      ] satisfies Astray[]) {
        const { outcomes, server } = await meet(wantingToken(astray), { hasSecrets: true, steps: ['list'] })

        expect(outcomes).toEqual([expect.stringMatching(/^(UNAUTHORIZED|CONNECTION_FAILED)$/)])
        expect(told(server)).toContain('secret-key')
      }
      expect(elsewhere.seen.length + other.seen.length).toBeGreaterThan(3)
      expect(told(elsewhere)).not.toContain('secret')
      expect(told(other)).not.toContain('secret')
    })

    it('users are sent to https alone', async () => {
      for (const authorization_endpoint of ['file:///etc/passwd', 'vscode://x/y', 'http://login.example/a']) {
        const { redirects } = await meet(wantingToken({ endpoints: { authorization_endpoint } }), {
          hasSecrets: true,
          steps: ['list'],
        })
        expect(redirects).toEqual([])
      }
      const { redirects } = await meet(
        wantingToken({ endpoints: { authorization_endpoint: 'https://login.example/a' } }),
        { hasSecrets: true, steps: ['list', 'list'] },
      )
      expect(new Set(redirects).size).toBe(1)
    })
  })
}

function failingLists(message: string): Promise<HostileServer> {
  return startHostile(({ message: asked, json }) => {
    if (asked?.method !== 'tools/list') return false
    json({ jsonrpc: '2.0', id: asked.id, error: { code: -32000, message } })
    return true
  })
}
