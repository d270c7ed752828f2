/** Every function of every entry point, called with nothing or with the wrong kind, works or says in one line what is missing. */
import { describe, expect, it } from 'vitest'
import manifest from '../../../package.json' with { type: 'json' }

const entries = Object.keys(manifest.exports)
  .filter((entry) => entry !== './package.json')
  .map((entry) => entry.replace('.', 'mayfly-mcp'))

/** What an engine says about a value of the wrong kind, instead of what the function needs. */
const ENGINE =
  /Cannot (?:read|set|destructure|convert|use|access)|is not (?:a function|iterable|a constructor|an object|a valid|defined|extensible)|undefined \(|Invalid value used|Right-hand side|must be called with new|\bundefined\b.*\bundefined\b|Invalid URL|Class (?:constructor|extends)/

const WRONG: readonly (readonly unknown[])[] = [[], [null], ['text'], [5], [[]], [{}], [() => {}]]

const isClass = (value: unknown): boolean => /^class\b/.test(String(value))

/** What it threw; undefined if it works. */
async function thrownBy(value: (...args: unknown[]) => unknown, args: readonly unknown[]) {
  try {
    const made = isClass(value) ? Reflect.construct(value, args) : value(...args)
    const settled = await Promise.race([made, new Promise((resolve) => setImmediate(resolve))])
    await (settled as { close?(): unknown } | undefined)?.close?.()
    return undefined
  } catch (error) {
    return error as Error
  }
}

/** What needs nothing, or takes anything: why. */
const FREE: { readonly [name: string]: string } = {
  accept: 'the content of a form is up to the form',
  MayflyAlarmObject: 'workerd makes it',
  cancel: 'takes nothing',
  closeSessions: 'a server that has none has nothing to close',
  UpstreamFault: 'a code and a message',
  createMemoryBus: 'takes nothing',
  createMemoryEvents: 'takes nothing',
  createMemoryGrants: 'takes nothing',
  createMemoryKeyStore: 'takes nothing',
  createMemoryOAuthStorage: 'takes nothing',
  createMemoryRendezvous: 'takes nothing',
  createMemoryTaskStore: 'takes nothing',
  decline: 'takes nothing',
  error: 'a text',
  dynamoEventTable: 'the name of a table',
  dynamoGrantTable: 'the name of a table',
  dynamoKeyTable: 'the name of a table',
  dynamoTaskTable: 'the name of a table',
  environmentKeyStore: 'an environment without the variable has no keys',
  fileKeyStore: 'the path of a file',
  postgresEventSchema: 'the name of a table',
  postgresGrantSchema: 'the name of a table',
  postgresKeySchema: 'the name of a table',
  postgresTaskSchema: 'the name of a table',
  reject: 'takes nothing',
  text: 'a text',
}

/** Built by workerd, which passes a state. */
const WORKERD = /^Mayfly(?:AlarmObject|Bus|Events|Grants|Subscriptions|TaskObject|Rendezvous)$/

/** All options have defaults. */
const OPTIONAL =
  /^(?:chromaVector|createMemory\w+|nodeEventSender|openTelemetry|environmentKeyStore|pollingRunner|postgres(?:Event|Grant|Key|Task)Schema)$/

describe.each(entries)('%s', async (entry) => {
  const values: { readonly [name: string]: unknown } = await import(/* @vite-ignore */ entry)
  const functions = Object.entries(values).filter(
    ([name, value]) => typeof value === 'function' && !name.endsWith('Error') && !WORKERD.test(name),
  )
  if (functions.length === 0) return

  it.each(functions)('%s', async (name, value) => {
    for (const args of WRONG) {
      const error = await thrownBy(value as (...args: unknown[]) => unknown, args)
      // Lists, objects and functions may be what it takes.
      const mayWork =
        typeof args[0] === 'object' || typeof args[0] === 'function' || Object.hasOwn(FREE, name)
      if (error === undefined && (mayWork ? args[0] !== null : args.length === 0 && OPTIONAL.test(name)))
        continue
      if (error === undefined && Object.hasOwn(FREE, name)) continue
      expect([name, args, error?.message]).toEqual([name, args, expect.not.stringMatching(ENGINE)])
      expect([name, args, error?.message]).toEqual([name, args, expect.stringMatching(/^[^\n]{10,}$/)])
    }
  })
})
