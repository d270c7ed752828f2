/** A KV namespace of Cloudflare from outside of a Worker, by the project's own wrangler, its configuration and its login. */
import type { KVNamespace } from '../../adapters/cloudflare-keys.ts'
import type { Project } from '../contract/target.ts'
import { filesForWrangler, OFFLINE, wranglerBin } from '../targets/cloudflare/wrangler.ts'
import { lookUp } from '../targets/deploy-tool.ts'
import { CliError } from '../terminal/cli-error.ts'

interface Listed {
  readonly name: string
  readonly metadata?: unknown
}

/** @param where `remote`, or `local` for the namespace of `mayfly dev`. Throws `CliError`. */
export function wranglerNamespace(
  project: Pick<Project, 'cwd' | 'entry'>,
  binding: string,
  where: 'remote' | 'local',
): KVNamespace {
  const bin = wranglerBin(project.cwd)
  filesForWrangler(project)
  const run = async (...args: string[]): Promise<string> => {
    const command = [bin, 'kv', 'key', ...args, '--binding', binding, `--${where}`]
    const step = { title: 'use KV', command: process.execPath, args: command, cwd: project.cwd, env: OFFLINE }
    const printed = await lookUp(step, bin)
    if (printed === undefined)
      throw new CliError(`wrangler cannot use the KV namespace ${binding}: it printed why above`)
    return printed
  }
  const list = async (prefix: string): Promise<Listed[]> => {
    const printed = await run('list', '--prefix', prefix)
    try {
      return JSON.parse(printed.slice(printed.indexOf('['))) as Listed[]
    } catch {
      throw new CliError('wrangler kv key list did not print a list')
    }
  }
  return {
    // A store's value is also the metadata; `kv key get` does not tell a missing entry from a failure.
    async get(name) {
      const found = (await list(name)).find((one) => one.name === name)
      return found === undefined ? null : JSON.stringify((found.metadata as { value?: unknown })?.value)
    },
    async put(name, value, { metadata } = {}) {
      await run('put', name, value, '--metadata', JSON.stringify(metadata))
    },
    // Wrangler lists all pages.
    list: async ({ prefix }) => ({ keys: await list(prefix), list_complete: true }),
  }
}
