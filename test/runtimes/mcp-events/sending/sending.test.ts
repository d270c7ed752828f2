/** What senders make of hostile endpoints, on each real runtime: bounded, categorised, and nothing internal is reached. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Miniflare } from 'miniflare'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { trustingTestCertificate } from '../../../cli/_certificate.ts'
import { startWorkerd, urlOf } from '../../cloudflare/_workerd.ts'
import { type Hostile, startHostile } from './_hostile.ts'
import { BODY, type Ended, type Task } from './_requests.ts'

const SCRIPT = join(import.meta.dirname, '_process.ts')
const COMMANDS: { readonly [runtime: string]: readonly string[] } = {
  node: [process.execPath, '--no-warnings'],
  deno: ['deno', 'run', '-A', '--node-modules-dir=manual'],
  bun: ['bun'],
}

async function runProcess(runtime: string, tasks: readonly Task[], env = process.env): Promise<Ended[][]> {
  const [command = '', ...args] = COMMANDS[runtime]!
  const { stdout } = await promisify(execFile)(command, [...args, SCRIPT, JSON.stringify(tasks)], { env })
  return JSON.parse(stdout.trim().split('\n').at(-1)!) as Ended[][]
}

let hostile: Hostile
let workerd: Miniflare
beforeAll(async () => {
  hostile = await startHostile()
  workerd = await startWorkerd({ entryPoints: [join(import.meta.dirname, '_worker.ts')] })
}, 60_000)
afterAll(async () => {
  await workerd?.dispose()
  hostile?.stop()
})

async function runWorker(tasks: readonly Task[]): Promise<Ended[][]> {
  const response = await fetch(await urlOf(workerd), { method: 'POST', body: JSON.stringify(tasks) })
  return (await response.json()) as Ended[][]
}

const SENDERS: readonly (readonly [string, Task['by'], (tasks: readonly Task[]) => Promise<Ended[][]>])[] = [
  ...Object.keys(COMMANDS).flatMap((runtime) =>
    (['node', 'fetch'] as const).map(
      (by) =>
        [
          `${by === 'node' ? 'nodeEventSender' : 'fetch'} on ${runtime}`,
          by,
          (tasks: readonly Task[]) => runProcess(runtime, tasks),
        ] as const,
    ),
  ),
  ['fetch on workerd', 'fetch', runWorker],
]

/** By path: what it ends in, once without its body and once with up to 4096 bytes of it. */
const ENDINGS: { readonly [path: string]: readonly [without: object, withBody: object] } = {
  '/echo': [{ status: 200 }, { status: 200, body: BODY }],
  '/gone': [{ status: 410 }, { status: 410, body: 'never mind' }],
  '/busy': [
    { status: 429, retryAfterMs: 7000 },
    { status: 429, retryAfterMs: 7000, body: '' },
  ],
  '/slow': [{ failure: 'timeout' }, { failure: 'timeout' }],
  '/drip': [{ status: 200 }, { failure: 'timeout' }],
  '/1-gb': [{ status: 200 }, { failure: 'too-large' }],
  '/endless': [{ status: 200 }, { failure: 'too-large' }],
  '/redirect/301': [{ failure: 'redirect' }, { failure: 'redirect' }],
  '/redirect/302': [{ failure: 'redirect' }, { failure: 'redirect' }],
  '/redirect/303': [{ failure: 'redirect' }, { failure: 'redirect' }],
  '/redirect/307': [{ failure: 'redirect' }, { failure: 'redirect' }],
  '/redirect/308': [{ failure: 'redirect' }, { failure: 'redirect' }],
}

/** Whatever becomes of these, it is soon. */
const ANY = ['/bomb', '/encodings', '/broken', '/cut', '/switch', '/headers']

describe.each(SENDERS)('%s', (name, by, run) => {
  const toTask = (path: string, more: Partial<Task> = {}): Task => ({
    by,
    url: `http://127.0.0.1:${hostile.port}${path}`,
    allowLoopback: true,
    timeoutMs: 2000,
    ...more,
  })

  it('bounds and categorises what endpoints answer, and follows no redirect', async () => {
    const before = hostile.taken()
    const tasks = Object.keys(ENDINGS).flatMap((path) => [toTask(path), toTask(path, { maxBodyBytes: 4096 })])
    const ended = (await run(tasks)).map(([{ ms, ...outcome } = {} as Ended]) => outcome)
    const expected = Object.values(ENDINGS).flat()
    expect(tasks.map(({ url, maxBodyBytes }, index) => [url, maxBodyBytes, ended[index]])).toEqual(
      tasks.map(({ url, maxBodyBytes }, index) => [url, maxBodyBytes, expected[index]]),
    )
    expect(hostile.inner).toEqual([])
    // What is in the buffers of four connections, of 4 GB.
    expect(hostile.taken() - before).toBeLessThan(100_000_000)
  }, 60_000)

  it('ends soon whatever else they do', async () => {
    const tasks = ANY.flatMap((path) => [toTask(path), toTask(path, { maxBodyBytes: 4096 })])
    const wrong = toTask('', { url: `http://127.0.0.1:${hostile.wrongPort}/` })
    for (const [ended] of await run([...tasks, wrong])) {
      expect(ended!.ms).toBeLessThan(4000)
      expect(ended).not.toHaveProperty('thrown')
      expect(JSON.stringify(ended).length).toBeLessThan(5000)
    }
  }, 60_000)

  it('nobody listens → refused; a certificate of nobody → tls; the caller aborts → its reason', async () => {
    const [refused, tls, aborted] = await run([
      toTask('', { url: `http://127.0.0.1:${hostile.closedPort}/` }),
      toTask('', { url: `https://127.0.0.1:${hostile.securePort}/echo` }),
      toTask('/slow', { abortAfterMs: 100 }),
    ])
    expect(aborted).toEqual([{ thrown: 'the caller is gone', ms: expect.any(Number) }])
    // workerd tells neither of them from any other failure.
    const isKnown = !name.includes('workerd')
    expect(refused).toEqual([{ failure: isKnown ? 'refused' : expect.any(String), ms: expect.any(Number) }])
    expect(tls).toEqual([{ failure: isKnown ? 'tls' : expect.any(String), ms: expect.any(Number) }])
  }, 60_000)
})

describe.each(Object.keys(COMMANDS))('nodeEventSender on %s', (runtime) => {
  const run = async (tasks: readonly Omit<Task, 'by'>[], env?: NodeJS.ProcessEnv) =>
    (
      await runProcess(
        runtime,
        tasks.map((task) => ({ ...task, by: 'node' })),
        env,
      )
    ).map((all) => all.map(({ ms, ...outcome }) => outcome))

  it('connects to no special address that a name resolves to, alone or beside others', async () => {
    const { port, received } = hostile
    const before = received.length
    const url = `https://hooks.example.com:${port}/echo`
    const SPECIAL = [
      ['127.0.0.1'],
      ['::1'],
      ['10.0.0.1'],
      ['169.254.169.254'],
      ['192.168.1.1'],
      ['::ffff:127.0.0.1'],
      ['64:ff9b::7f00:1'],
      ['fd00:ec2::254'],
      ['8.8.8.8', '127.0.0.1'],
      ['not an address'],
    ]
    const ended = await run([...SPECIAL.map((one) => ({ url, resolved: [one] })), { url, resolved: [[]] }])
    expect(ended).toEqual([...SPECIAL.map(() => [{ failure: 'address' }]), [{ failure: 'dns' }]])
    expect(received.length).toBe(before)
  })

  it('a name that resolves to another address next: each connection is checked, and to what was checked', async () => {
    const { port, received } = hostile
    const before = received.length
    const url = `http://localhost:${port}/echo`
    const resolved = [['127.0.0.1'], ['10.0.0.1'], ['127.0.0.1']]
    expect(await run([{ url, resolved, allowLoopback: true, times: 3 }])).toEqual([
      [{ status: 200 }, { failure: 'address' }, { status: 200 }],
    ])
    expect(received.slice(before)).toEqual(
      [0, 1].map(() => ({ method: 'POST', path: '/echo', host: `localhost:${port}`, body: BODY })),
    )
  })

  it('refuses addresses in URLs, and http, unless it is of this machine in development', async () => {
    const { port } = hostile
    const before = hostile.received.length
    const urls = [
      `https://127.0.0.1:${port}/`,
      `https://[::1]:${port}/`,
      `https://2130706433:${port}/`,
      `https://[::ffff:7f00:1]:${port}/`,
    ]
    expect(await run(urls.map((url) => ({ url })))).toEqual(urls.map(() => [{ failure: 'address' }]))
    const others = [
      `http://127.0.0.1:${port}/`,
      'http://example.com/',
      'https://user@example.com/',
      'file:///x',
      'x',
    ]
    expect(await run(others.map((url) => ({ url })))).toEqual(others.map(() => [{ failure: 'other' }]))
    expect(hostile.received.length).toBe(before)
  })

  it('the certificate must be for the name, not for the address', async () => {
    const { securePort } = hostile
    const own = { url: `https://127.0.0.1:${securePort}/echo`, allowLoopback: true, maxBodyBytes: 4096 }
    const named = { ...own, url: `https://hooks.example.com:${securePort}/echo`, resolved: [['127.0.0.1']] }
    expect(await run([own, named], { ...process.env, ...trustingTestCertificate() })).toEqual([
      [{ status: 200, body: BODY }],
      [{ failure: 'tls' }],
    ])
  })
})
