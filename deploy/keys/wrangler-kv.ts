/** A KV namespace of Cloudflare from outside of a Worker, by the project's own wrangler, its configuration and its login. */
import type { KVNamespace } from '../../adapters/cloudflare-keys.ts'
import type { Project } from '../contract/target.ts'
import { cloudflarePlace } from '../targets/cloudflare/place.ts'
import { filesForWrangler, OFFLINE, wranglerBin } from '../targets/cloudflare/wrangler.ts'
import { lookUp } from '../targets/deploy-tool.ts'
import { CliError } from '../terminal/cli-error.ts'

/** Of all entries of a store with the default prefix. */
const PREFIX = 'mayfly:'

interface Listed {
  readonly name: string
  readonly metadata?: unknown
}

/** @param where `remote`, or `local` for the namespace of `mayfly dev`. Throws `CliError`. */
export function wranglerNamespace(project: Project, binding: string, where: 'remote' | 'local'): KVNamespace {
  const bin = wranglerBin(project.cwd)
  filesForWrangler(project)
  const { stage } = project
  // A binding of the stage's environment, which has a namespace of its own.
  const { options = [], env = {} } = stage === undefined ? {} : cloudflarePlace(project, { stage })
  const run = async (...args: string[]): Promise<string> => {
    const command = [bin, 'kv', 'key', ...args, '--binding', binding, `--${where}`, ...options]
    const step = {
      title: 'use KV',
      command: process.execPath,
      args: command,
      cwd: project.cwd,
      env: { ...OFFLINE, ...env },
    }
    const printed = await lookUp(step, bin)
    if (printed === undefined)
      throw new CliError(`wrangler cannot use the KV namespace ${binding}: it printed why above`)
    return printed
  }
  const readAll = async (): Promise<Map<string, unknown>> => {
    const printed = await run('list', '--prefix', PREFIX)
    try {
      const listed = JSON.parse(printed.slice(printed.indexOf('['))) as Listed[]
      return new Map(listed.map(({ name, metadata }) => [name, metadata]))
    } catch {
      throw new CliError('wrangler kv key list did not print a list')
    }
  }
  let all: Promise<Map<string, unknown>> | undefined
  /** Once, since each start of wrangler takes seconds. */
  const entries = (): Promise<Map<string, unknown>> => {
    all ??= readAll()
    return all
  }
  return {
    // A store's value is also the metadata; `kv key get` does not tell a missing entry from a failure.
    async get(name) {
      const found = (await entries()).get(name) as { readonly value?: unknown } | undefined
      return found === undefined ? null : JSON.stringify(found.value)
    },
    async put(name, value, { metadata } = {}) {
      await run('put', name, value, '--metadata', JSON.stringify(metadata))
      ;(await entries()).set(name, metadata)
    },
    async list({ prefix }) {
      const found = [...(await entries())].filter(([name]) => name.startsWith(prefix))
      return { keys: found.map(([name, metadata]) => ({ name, metadata })), list_complete: true }
    },
  }
}
