/** The client of a server on stdio, whose process it starts. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Client, Reply } from './_clients.ts'
import type { WireMessage } from './_http.ts'
import type { Guarded } from './_ours.ts'
import { Probe } from './_probe.ts'

const SERVER = fileURLToPath(new URL('./_stdio-server.ts', import.meta.url))

export interface StdioProcess {
  readonly probe: Probe
  readonly client: Client
  /** Closes stdin. @throws where the process does not end well by that. */
  close(): Promise<void>
}

export async function startProcess(guarded: Guarded): Promise<StdioProcess> {
  const child = spawn(process.execPath, [SERVER, JSON.stringify(guarded)], {
    stdio: ['pipe', 'pipe', 'ignore', 'ipc'],
  })
  const exited = once(child, 'exit')
  const probe = new RemoteProbe(child)
  const waiting = new Map<unknown, (message: WireMessage) => void>()
  createInterface({ input: child.stdout! }).on('line', (line) => {
    const message = JSON.parse(line) as WireMessage
    if (message.method === undefined) waiting.get(message.id)?.(message)
  })
  let nextId = 1
  const write = (message: object, body = (text: string) => text): void => {
    child.stdin?.write(`${body(JSON.stringify({ jsonrpc: '2.0', ...message }))}\n`)
  }
  const ask = (id: number): Promise<Reply> =>
    new Promise((resolve) => {
      waiting.set(id, (message) => resolve({ status: undefined, headers: {}, message }))
    })
  const close = async (): Promise<void> => {
    child.stdin?.end()
    const [code, signal] = await exited
    if (code !== 0) throw new Error(`The process ended with ${code ?? signal}.`)
  }
  const client: Client = {
    send: (calls, { body } = {}) =>
      Promise.all(
        calls.map((call) => {
          const id = nextId++
          write({ id, ...call }, body)
          return ask(id)
        }),
      ),
    begin: (call) => {
      const id = nextId++
      write({ id, ...call })
      return {
        heard: [],
        reply: ask(id),
        leave: {
          'notifications/cancelled': async () =>
            write({ method: 'notifications/cancelled', params: { requestId: id } }),
          'closes stdin': close,
        },
      }
    },
    close: () => {},
  }
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'guards', version: '1' },
  }
  await client.send([{ method: 'initialize', params }])
  return { probe, client, close }
}

/** What the process tells of its own. */
class RemoteProbe extends Probe {
  readonly #child: ChildProcess

  constructor(child: ChildProcess) {
    super()
    this.#child = child
    child.on('message', ({ list, added }: { list: 'happened'; added: never[] }) => this[list].push(...added))
  }

  override release(): void {
    this.#child.send({ release: true })
  }
}
