/**
 * What every bus does: one suite of scenarios, which each bus passes over its real server. An instance stands for a process: it has
 * connections of its own.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Bus, type ChangeEvent, createTool, MCPServer } from '../../../src/index.ts'
import { eventually } from '../../_eventually.ts'
import { callTool, textOf } from '../../unit/_client.ts'

export interface Instance {
  readonly bus: Bus
  close(): unknown
}

export interface Broker {
  /** Connects as another process would. `onError` is what the operator sees. */
  connect(onError: (error: unknown) => void): Promise<Instance>
  /** Puts text on the bus' channel from outside. Undefined where nobody can. */
  inject?(text: string): Promise<unknown>
  /** Cuts all instances off as a crash does, and lets them connect again. Undefined where there is nothing that can be down. */
  outage?: { begin(): Promise<unknown>; end(): Promise<unknown> }
  /** Events that are published at once. Default 2000. */
  burst?: number
  /** Whether what is published at once keeps its order on the way. Default true. */
  keepsOrder?: boolean
  stop(): unknown
}

const CHANGE: ChangeEvent = { type: 'toolsListChanged' }
const END: ChangeEvent = { type: 'resourceUpdated', uri: 'end://' }
const updated = (uri: string): { type: 'resourceUpdated'; uri: string } => ({ type: 'resourceUpdated', uri })

/** None of these is a change event. */
const HOSTILE = [
  '',
  ' ',
  'no JSON',
  '{"type":',
  'null',
  '[]',
  '7',
  '"toolsListChanged"',
  '{}',
  '{"type":"unknown"}',
  '{"type":["toolsListChanged"]}',
  '{"type":"resourceUpdated"}',
  '{"type":"resourceUpdated","uri":7}',
  '{"__proto__":{"type":"toolsListChanged"}}',
  `{"type":"${'x'.repeat(7000)}"}`,
]

export function busSuite(name: string, startBroker: () => Promise<Broker>): void {
  describe(`a bus over ${name}`, { timeout: 180_000 }, () => {
    let broker: Broker
    const open: Instance[] = []
    const leaves: (() => void)[] = []
    beforeAll(async () => {
      broker = await startBroker()
    }, 300_000)
    afterAll(() => broker?.stop())
    beforeEach(() => void vi.spyOn(console, 'error').mockImplementation(() => undefined))
    afterEach(async () => {
      vi.restoreAllMocks()
      for (const leave of leaves.splice(0)) leave()
      for (const instance of open.splice(0)) await instance.close()
    })

    const connect = async () => {
      const onError = vi.fn()
      const instance = await broker.connect(onError)
      open.push(instance)
      return { ...instance, onError }
    }

    /** What a listener hears, without gaps. */
    const listen = async ({ bus }: { bus: Bus }) => {
      const heard: ChangeEvent[] = []
      const leave = await bus.subscribe((event) => void (event.type !== 'gap' && heard.push(event)))
      leaves.push(leave)
      return { heard, leave }
    }

    it('every kind of event reaches another instance, and its own [bus.delivery]', async () => {
      const [here, there] = [await connect(), await connect()]
      const listeners = [await listen(here), await listen(there)]
      const events: ChangeEvent[] = [
        CHANGE,
        { type: 'promptsListChanged' },
        { type: 'resourcesListChanged' },
        updated('note://today'),
      ]
      for (const event of events) await here.bus.publish(event)
      for (const { heard } of listeners) await eventually(() => expect(heard).toEqual(events))
    })

    it('who has unsubscribed hears no more, the others do, and it can come again [bus.delivery]', async () => {
      const [here, there] = [await connect(), await connect()]
      const [one, two] = [await listen(there), await listen(there)]
      one.leave()
      await here.bus.publish(updated('a://1'))
      await eventually(() => expect(two.heard).toHaveLength(1))
      two.leave()
      await here.bus.publish(updated('a://2'))
      const again = await listen(there)
      await here.bus.publish(updated('a://3'))
      // What was on its way when it came may arrive, too.
      await eventually(() => expect(again.heard).toContainEqual(updated('a://3')))
      expect([one.heard, two.heard]).toEqual([[], [updated('a://1')]])
    })

    it('ten subscribers of two instances hear everything once [bus.delivery]', async () => {
      const instances = [await connect(), await connect()]
      const all = await Promise.all(Array.from({ length: 10 }, (_, index) => listen(instances[index % 2]!)))
      for (let index = 0; index < 20; index++)
        await instances[index % 2]!.bus.publish(updated(`a://${index}`))
      for (const { heard } of all) await eventually(() => expect(heard).toHaveLength(20))
      await instances[0]!.bus.publish(END)
      for (const { heard } of all) await eventually(() => expect(heard.slice(20)).toEqual([END]))
    })

    it('a burst of events, published at once, arrive in order, and none is lost [bus.delivery]', async () => {
      const [here, there] = [await connect(), await connect()]
      const { heard } = await listen(there)
      const { burst = 2000 } = broker
      const events = Array.from({ length: burst }, (_, index) => updated(`a://${index}`))
      await Promise.all(events.map((event) => here.bus.publish(event)))
      await eventually(() => expect(heard).toHaveLength(burst))
      if (broker.keepsOrder ?? true) expect(heard).toEqual(events)
      else expect(new Set(heard.map((event) => 'uri' in event && event.uri)).size).toBe(burst)
    })

    it('URIs of any length and any characters arrive as they were [bus.delivery]', async () => {
      const [here, there] = [await connect(), await connect()]
      const { heard } = await listen(there)
      const odd = 'a://"\\\u0000\n\r ümläut 🦋 \ud800 %'
      const lengths = [7800, 7900, 7950, 8000, 8191, 8192, 16_000, 99_000]
      const uris = [odd, ...lengths.map((length) => 'a://'.padEnd(length, 'x')), odd.repeat(4000)]
      for (const uri of uris) await here.bus.publish(updated(uri))
      await eventually(() => expect(heard).toHaveLength(uris.length))
      expect(heard.map((event) => 'uri' in event && uris.indexOf(event.uri))).toEqual([...uris.keys()])
    })

    it.each(['x', 'é', '🦋', '\u007f'])(
      'an event of 1 000 000 bytes arrives, of %j, too; one byte more is refused to its publisher [bus.size]',
      async (text) => {
        const [here, there] = [await connect(), await connect()]
        const { heard } = await listen(there)
        const size = 1_000_000 - Buffer.byteLength(JSON.stringify(updated('a://')))
        const bytes = Buffer.byteLength(text)
        const largest = updated(`a://${text.repeat(size / bytes)}${'x'.repeat(size % bytes)}`)
        await here.bus.publish(largest)
        await eventually(() => expect(heard).toHaveLength(1))
        expect(JSON.stringify(heard[0]) === JSON.stringify(largest)).toBe(true)

        const publish = async () => here.bus.publish(updated(`${largest.uri}x`))
        await expect(publish()).rejects.toThrow('A change event of 1000001 bytes is not sent')

        await here.bus.publish(END)
        await eventually(() => expect(heard.at(-1)).toEqual(END))
        expect([here.onError.mock.calls, there.onError.mock.calls]).toEqual([[], []])
      },
    )

    it('what is no event on the channel is dropped, with one report, and what follows arrives [bus.foreign]', async (context) => {
      if (broker.inject === undefined) return context.skip()
      const instance = await connect()
      const { heard } = await listen(instance)
      for (const text of HOSTILE) await broker.inject(text)
      await instance.bus.publish(END)
      await eventually(() => expect(heard).toEqual([END]))
      expect(instance.onError).toHaveBeenCalledOnce()
    })

    describe('in an outage', () => {
      /** As a user has it: the bus behind a server, whose `onError` the operator sees as well. */
      const serve = async () => {
        const { bus, onError } = await connect()
        const touch = createTool({
          id: 'touch',
          execute: async () => {
            await server.resources.notifyUpdated({ uri: 'note://today' })
            return 'touched'
          },
        })
        const server = new MCPServer({
          id: 's',
          name: 'S',
          version: '1',
          log: false,
          bus,
          onError,
          tools: { touch },
        })
        return { server, bus, onError }
      }

      it('calls are answered, with one report; afterwards there is a gap, and events arrive again; and so the next time [bus.outage]', async (context) => {
        const { outage } = broker
        if (outage === undefined) return context.skip()
        const [here, there] = [await serve(), await connect()]
        const [heard, gaps]: [ChangeEvent[], ChangeEvent[]] = [[], []]
        leaves.push(
          await there.bus.subscribe((event) => void (event.type === 'gap' ? gaps : heard).push(event)),
        )
        for (const time of [1, 2]) {
          await outage.begin()
          for (let call = 0; call < 5; call++)
            expect(textOf(await callTool(here.server, 'touch'))).toBe('touched')
          expect(here.onError).toHaveBeenCalledTimes(time)
          await outage.end()
          await eventually(() => expect(gaps).toHaveLength(time))
          heard.length = 0
          await eventually(async () => {
            await here.server.tools.notifyListChanged()
            expect(heard).toContainEqual(CHANGE)
          })
          expect(here.onError).toHaveBeenCalledTimes(time)
          expect(there.onError.mock.calls.length).toBeLessThanOrEqual(time)
          // An outage is over when all connections are back, which the libraries try after up to 2 seconds: also the one for listening.
          const leave = await eventually(() => here.bus.subscribe(() => {}))
          leave()
        }
      })

      it('who comes meanwhile is refused or told of a gap, and hears afterwards [bus.outage]', async (context) => {
        const { outage } = broker
        if (outage === undefined) return context.skip()
        const { bus } = await connect()
        await outage.begin()
        const meanwhile = await Promise.allSettled([bus.subscribe(() => {}), bus.subscribe(() => {})])
        await outage.end()
        const heard = vi.fn()
        const leave = await eventually(() => bus.subscribe(heard))
        await eventually(async () => {
          await bus.publish(CHANGE)
          expect(heard).toHaveBeenCalledWith(CHANGE)
        })
        // Once each: what was refused has left nothing that delivers again.
        await new Promise((resolve) => setTimeout(resolve, 500))
        heard.mockClear()
        await bus.publish(END)
        await eventually(() => expect(heard).toHaveBeenCalledWith(END))
        expect(
          heard.mock.calls.filter(([event]) => JSON.stringify(event) === JSON.stringify(END)),
        ).toHaveLength(1)
        leave()
        for (const one of meanwhile) if (one.status === 'fulfilled') one.value()
      })
    })
  })
}
