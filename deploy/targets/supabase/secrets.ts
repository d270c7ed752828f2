/** The secrets of a function among those of its Supabase project, by its CLI: in the project, their names begin with the function's. */
import {
  readJson,
  type SecretStore,
  type SecretStoreOptions,
  secretsIn,
} from '../../contract/secret-store.ts'
import { type Project, SECRET_FILE } from '../../contract/target.ts'
import { toEnvFile } from '../../project/secrets.ts'
import { pickOptions } from '../tool-options.ts'
import { GLOBAL_OPTIONS, PROJECT_OPTIONS, supabasePlace } from './place.ts'
import { toProjectVariables, variablePrefix } from './variables.ts'

/** https://supabase.com/docs/reference/cli/supabase-secrets */
export function supabaseSecrets(project: Project, { stage, extra }: SecretStoreOptions): SecretStore {
  const { account = '' } = supabasePlace(project, { stage, extra })
  const isGiven = pickOptions(extra, PROJECT_OPTIONS).length > 0
  const which = [...(isGiven ? [] : [`--remote=${account}`]), ...extra]
  const { cwd } = project
  const prefix = variablePrefix(project.name)
  return {
    loginOptions: pickOptions(extra, GLOBAL_OPTIONS),
    takesEffect: 'at once',
    list: { title: 'list the secrets', args: ['secrets', 'list', '--output', 'json', ...which], cwd },
    read: (told) =>
      secretsIn(readJson(told), { name: 'name', changed: ['updated_at'] })
        ?.filter(({ name }) => name.startsWith(prefix))
        .map((secret) => ({ ...secret, name: secret.name.slice(prefix.length) })),
    set: (secrets) => [
      {
        title: `store ${[...secrets.keys()].join(', ')}`,
        args: ['secrets', 'set', '--env-file', SECRET_FILE, '--yes', ...which],
        cwd,
        secretFile: toEnvFile(toProjectVariables(project.name, secrets), { expands: false }),
      },
    ],
    remove: (names) => [
      {
        title: `remove ${names.join(', ')}`,
        args: ['secrets', 'unset', ...names.map((name) => prefix + name), '--yes', ...which],
        cwd,
      },
    ],
  }
}
