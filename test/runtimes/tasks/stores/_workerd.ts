/** A real workerd with the Worker of these tests, and a store that calls it from here. */
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { Miniflare } from 'miniflare'
import type { TaskStore } from '../../../../src/tasks/store.ts'

const FOLDER = new URL('../../cloudflare/tasks/', import.meta.url)
const OBJECTS = ['Suite', 'Runner', 'Other']

export interface Workerd {
  readonly miniflare: Miniflare
  readonly url: URL
  /** `dispatchFetch`, of JSON. */
  ask<Answer>(path: string, body?: unknown): Promise<Answer>
  /** Does in the Worker what a store does, at the time that `Date` has here. */
  store(object: string, name: string, timeoutMs?: number): TaskStore
  stop(): Promise<void>
}

export async function startWorkerd(file = 'worker.ts', objects = OBJECTS): Promise<Workerd> {
  const entryPoints = [fileURLToPath(new URL(file, FOLDER))]
  const { outputFiles } = await build({
    entryPoints,
    bundle: true,
    write: false,
    format: 'esm',
    external: ['cloudflare:workers'],
  })
  const modules = { 'worker.js': { type: 'esm' as const, contents: outputFiles[0]!.text } }
  const binding = (exportName: string) => ({ type: 'durable-object' as const, worker: 'tasks', exportName })
  const object = { type: 'durable-object' as const, storage: 'sqlite' as const }
  const config = {
    name: 'tasks',
    compatibilityDate: '2025-09-01',
    manifest: { mainModule: 'worker.js', modulesRoot: import.meta.dirname, modules },
    env: Object.fromEntries(objects.map((name) => [name, binding(name)])),
    exports: Object.fromEntries(objects.map((name) => [name, object])),
  }
  // Its default asks the internet where it is.
  const miniflare = new Miniflare({
    cf: false,
    workers: [{ config, dev: { unsafeDirectSockets: [{ host: '127.0.0.1', port: 0 }] } }],
  })
  await miniflare.ready
  const url = await miniflare.unsafeGetDirectURL('tasks')
  const ask = async <Answer>(path: string, body?: unknown): Promise<Answer> => {
    const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
    const response = await fetch(new URL(path, url), init)
    return (await response.json()) as Answer
  }
  return {
    miniflare,
    url: new URL(url),
    ask,
    store(object, name, timeoutMs = 30_000) {
      const call = async <Value>(method: string, ...args: unknown[]): Promise<Value> => {
        const sent = args.map((arg) => (arg === Number.POSITIVE_INFINITY ? 'Infinity' : arg))
        const order = { object, method, args: sent, name, timeoutMs, now: Date.now() }
        const answer = await ask<{ value?: Value; error?: string; isTypeError?: boolean }>('/call', order)
        if (answer.error === undefined) return answer.value as Value
        throw answer.isTypeError ? new TypeError(answer.error) : new Error(answer.error)
      }
      return {
        maxStateBytes: 1_000_000,
        create: (task, maxOpen) => call('create', task, maxOpen),
        read: (id) => call('read', id),
        replace: (task) => call('replace', task),
        due: (now, limit, options = {}) => call('due', now, limit, options),
      }
    },
    stop: () => miniflare.dispose(),
  }
}
