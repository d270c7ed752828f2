/** The variables of a project of Vercel, by its CLI. */
import {
  readJson,
  type SecretStore,
  type SecretStoreOptions,
  secretsIn,
} from '../../contract/secret-store.ts'
import type { Project } from '../../contract/target.ts'
import { pickOptions } from '../tool-options.ts'
import { linkFolder } from './linked.ts'
import { GLOBAL_OPTIONS, vercelPlace } from './place.ts'

/** A stage is a project of its own, whose server is its production. */
const ENVIRONMENT = 'production'

/** https://vercel.com/docs/cli/env */
export function vercelSecrets(project: Project, { stage, extra, folder }: SecretStoreOptions): SecretStore {
  const place = vercelPlace(project, { stage, extra })
  const common = pickOptions(extra, GLOBAL_OPTIONS)
  const { step, link } = linkFolder(project, place, folder)
  return {
    loginOptions: common,
    takesEffect: 'with the next deployment',
    ...(link && { link }),
    list: {
      ...step,
      title: 'list the variables',
      args: ['env', 'ls', ENVIRONMENT, '--format', 'json', ...common],
    },
    read: (told) =>
      secretsIn((readJson(told) as { envs?: unknown } | undefined)?.envs, {
        name: 'key',
        changed: ['updatedAt', 'createdAt'],
      }),
    set: (secrets) =>
      [...secrets].map(([name, value]) => ({
        ...step,
        title: `store ${name}`,
        args: ['env', 'add', name, ENVIRONMENT, '--sensitive', '--force', '--yes', ...common],
        stdin: value,
      })),
    remove: (names) =>
      names.map((name) => ({
        ...step,
        title: `remove ${name}`,
        args: ['env', 'rm', name, ENVIRONMENT, '--yes', ...common],
      })),
  }
}
