/** The secrets of a Worker, by wrangler. */
import {
  readJson,
  type SecretStore,
  type SecretStoreOptions,
  secretsIn,
} from '../../contract/secret-store.ts'
import type { Project } from '../../contract/target.ts'
import { workerOptions } from './worker-options.ts'

/** https://developers.cloudflare.com/workers/wrangler/commands/#secret. Cloudflare tells no age. */
export function cloudflareSecrets(project: Project, { stage, extra }: SecretStoreOptions): SecretStore {
  const { options: which, step } = workerOptions(project, { stage, extra })
  const bulk = (title: string, values: { readonly [name: string]: string | null }) => ({
    ...step,
    title,
    args: ['secret', 'bulk', ...which],
    stdin: JSON.stringify(values),
  })
  return {
    takesEffect: 'at once',
    list: { ...step, title: 'list the secrets', args: ['secret', 'list', '--format', 'json', ...which] },
    read: (told) => secretsIn(readJson(told), { name: 'name' }),
    set: (secrets) => [bulk(`store ${[...secrets.keys()].join(', ')}`, Object.fromEntries(secrets))],
    // With null, `bulk` deletes: `secret delete` would ask for each.
    remove: (names) => [
      bulk(`remove ${names.join(', ')}`, Object.fromEntries(names.map((one) => [one, null]))),
    ],
  }
}
