/** The secrets of a stack: one JSON object in AWS Secrets Manager, whose version the function's configuration names. */
import { randomUUID } from 'node:crypto'
import { readJson, type SecretStore, type SecretStoreOptions } from '../../contract/secret-store.ts'
import type { DeployStep, Project } from '../../contract/target.ts'
import { pickOptions } from '../tool-options.ts'
import { AWS_OPTIONS, lambdaPlace } from './place.ts'

/** https://docs.aws.amazon.com/cli/latest/reference/secretsmanager/ */
export function lambdaSecrets(project: Project, { stage, extra }: SecretStoreOptions): SecretStore {
  const SecretId = `${lambdaPlace(project, { stage, extra }).name}-secrets`
  const common = pickOptions(extra, AWS_OPTIONS)
  const { cwd } = project
  return {
    loginOptions: common,
    takesEffect: 'with the next deployment that passes --secret',
    list: {
      title: `read the names in ${SecretId}`,
      args: ['secretsmanager', 'get-secret-value', '--secret-id', SecretId, '--output', 'json', ...common],
      cwd,
    },
    read: (told) => {
      const stored = valuesIn(told)
      const { CreatedDate } = (readJson(told) ?? {}) as { CreatedDate?: string | number }
      const written = new Date(typeof CreatedDate === 'number' ? CreatedDate * 1000 : (CreatedDate ?? ''))
      const changed = Number.isNaN(written.getTime()) ? undefined : written.toISOString()
      return stored && Object.keys(stored).map((name) => ({ name, changed }))
    },
    set: (secrets, told) => [
      put(`store ${[...secrets.keys()].join(', ')}`, { ...valuesIn(told), ...Object.fromEntries(secrets) }),
    ],
    remove: (names, told) => [
      put(
        `remove ${names.join(', ')}`,
        Object.fromEntries(Object.entries(valuesIn(told) ?? {}).filter(([name]) => !names.includes(name))),
      ),
    ],
  }

  function put(title: string, values: object): DeployStep {
    return {
      title,
      args: ['secretsmanager', 'put-secret-value', '--cli-input-json', 'file:///dev/stdin', ...common],
      cwd,
      stdin: JSON.stringify({
        SecretId,
        ClientRequestToken: randomUUID(),
        SecretString: JSON.stringify(values),
      }),
    }
  }
}

function valuesIn(told: string): { readonly [name: string]: unknown } | undefined {
  const { SecretString } = (readJson(told) ?? {}) as { SecretString?: unknown }
  const stored = typeof SecretString === 'string' ? readJson(SecretString) : undefined
  return typeof stored === 'object' && stored !== null && !Array.isArray(stored)
    ? (stored as { [name: string]: unknown })
    : undefined
}
