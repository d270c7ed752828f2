/** The variables of an app of Deno Deploy, by `deno deploy env`. */
import type { Place } from '../../contract/place.ts'
import type { SecretStore, SecretStoreOptions } from '../../contract/secret-store.ts'
import { toEnvFile } from '../../project/secrets.ts'
import { pickOptions } from '../tool-options.ts'

/** https://docs.deno.com/runtime/reference/cli/deploy/#environment-variables-management. It has no list without values. */
export function denoSecrets({ options }: Place, { extra, folder }: SecretStoreOptions): SecretStore {
  const common = [...options, '--non-interactive', ...pickOptions(extra, ['--token'])]
  return {
    takesEffect: 'with the next deployment',
    list: {
      reason:
        "deno deploy env list shows values beside the names, so Mayfly does not read it: see the app's settings on console.deno.com",
    },
    read: () => undefined,
    set: (secrets) => [
      {
        title: `store ${[...secrets.keys()].join(', ')}`,
        args: ['deploy', 'env', 'load', '/dev/stdin', '--replace', ...common],
        cwd: folder,
        stdin: toEnvFile(secrets),
      },
    ],
    remove: (names) =>
      names.map((name) => ({
        title: `remove ${name}`,
        args: ['deploy', 'env', 'delete', name, ...common],
        cwd: folder,
      })),
  }
}
