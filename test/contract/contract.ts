/**
 * The contract: every promise that needs a real runtime, a real network and a real client to be shown. A launcher under
 * `test/runtimes/` calls this once for its platform.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Abilities, Lack } from '../../deploy/contract/abilities.ts'
import { CLIENTS } from './clients.ts'
import { buffered } from './scenarios/buffered.ts'
import { cancellation } from './scenarios/cancellation.ts'
import { connecting } from './scenarios/connecting.ts'
import { http } from './scenarios/http.ts'
import { resourcesAndPrompts } from './scenarios/resources-and-prompts.ts'
import { streaming } from './scenarios/streaming.ts'
import { subscriptions } from './scenarios/subscriptions.ts'
import { tools } from './scenarios/tools.ts'
import { withoutBus } from './scenarios/without-bus.ts'

/** The fixture, served. */
export interface Served {
  /** Of the MCP endpoint. */
  url: URL
  stop(): Promise<void>
}

export interface Runtime {
  /** What `navigator.userAgent` is there: proof that this is the runtime it claims to be. */
  userAgent: RegExp
  /** Serves `test/contract/fixture.ts`. */
  start(): Promise<Served>
  /** Of `ABILITIES`: what needs what it lacks is left out, and its absence shown instead. */
  abilities: Pick<Abilities, 'lacks'>
}

/** Where the fixture is served; known once the tests run. */
export type Endpoint = () => URL

const START_TIMEOUT_MS = 180_000

export function contract(target: string, runtime: Runtime): void {
  describe(`the contract on ${target}`, { timeout: 180_000 }, () => {
    let served: Served
    const endpoint: Endpoint = () => served.url
    beforeAll(async () => {
      served = await runtime.start()
    }, START_TIMEOUT_MS)
    afterAll(() => served?.stop())

    it('runs on the runtime it claims', async () => {
      await using connection = await CLIENTS[0]!.connect(endpoint())

      const { structuredContent } = await connection.call('whoami')

      expect((structuredContent as { runtime: string }).runtime).toMatch(runtime.userAgent)
    })

    const has = (power: Lack): boolean => !runtime.abilities.lacks.includes(power)
    connecting(endpoint, has('streaming'))
    tools(endpoint, has('shared memory'))
    if (has('streaming')) streaming(endpoint, has('shared memory'))
    else buffered(endpoint)
    if (has('disconnect') && has('shared memory')) cancellation(endpoint)
    resourcesAndPrompts(endpoint)
    withoutBus(endpoint, has('streaming'))
    if (has('streaming') && has('shared memory')) subscriptions(endpoint)
    http(endpoint, has('streamed requests'))
  })
}
