/** The secrets of a stack: one JSON object in AWS Secrets Manager, whose version the function's configuration names. */
import { randomUUID } from 'node:crypto'
import { FACTS } from '../../contract/facts.ts'
import { readJson, type SecretStore, type SecretStoreOptions } from '../../contract/secret-store.ts'
import type { LookedUp } from '../../contract/step.ts'
import type { DeployStep, Project } from '../../contract/target.ts'
import { CliError, printable } from '../../terminal/cli-error.ts'
import { pickOptions } from '../tool-options.ts'
import { AWS_OPTIONS, lambdaPlace } from './place.ts'

/** For all variables of a function, including their names. */
const MAX_SECRETS_BYTES = FACTS.lambda.variablesBytes.value

/** The text of the store. Throws `CliError` if Lambda would not take it. */
export function storable(values: object): string {
  const value = JSON.stringify(values)
  if (Buffer.byteLength(value) <= MAX_SECRETS_BYTES) return value
  throw new CliError(
    `these secrets are too large (${Object.keys(values).join(', ')}): Lambda allows 4 KB of environment variables; put large ones into a store and read them at run time`,
  )
}

/** Before the stack of a store is changed or removed: a stack of this name may be another project's server, made by hand or by other tools. */
export function storeGuard(
  stack: string,
  common: readonly string[],
  cwd: string,
): NonNullable<DeployStep['guard']> {
  const query = "Stacks[0].[StackStatus,length(not_null(Parameters,`[]`)[?ParameterKey=='StoreName'])]"
  return {
    lookUps: [
      {
        title: `look for the stack ${stack}`,
        args: [
          ...['cloudformation', 'describe-stacks', '--stack-name', stack],
          ...['--query', query, '--output', 'json', ...common],
        ],
        cwd,
      },
    ],
    refuse: ([answer]) => {
      const { code, output } = answer as LookedUp
      if (code !== 0 && /does not exist/.test(output)) return
      const [status, stores] = code === 0 ? ((readJson(output) ?? []) as unknown[]) : []
      // A stack that was created by a failed change set only has no parameters yet.
      if (stores === 1 || status === 'REVIEW_IN_PROGRESS') return
      throw new CliError(
        stores === 0
          ? `the stack ${stack} exists and is not a store of secrets, so it is left alone: name your own stack with -- --stack-name <name>`
          : `cannot tell whether the stack ${stack} is a store of secrets, so it is left alone: ${printable(output.trim().slice(0, 200)) || 'the AWS CLI printed nothing'}`,
      )
    },
  }
}

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
      put(
        `store ${[...secrets.keys()].join(', ')}`,
        storable({ ...valuesIn(told), ...Object.fromEntries(secrets) }),
      ),
    ],
    remove: (names, told) => [
      put(
        `remove ${names.join(', ')}`,
        JSON.stringify(
          Object.fromEntries(Object.entries(valuesIn(told) ?? {}).filter(([name]) => !names.includes(name))),
        ),
      ),
    ],
  }

  function put(title: string, SecretString: string): DeployStep {
    return {
      title,
      args: ['secretsmanager', 'put-secret-value', '--cli-input-json', 'file:///dev/stdin', ...common],
      cwd,
      stdin: JSON.stringify({ SecretId, ClientRequestToken: randomUUID(), SecretString }),
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
