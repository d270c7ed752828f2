/** AWS Lambda: one zip and one template, deployed by AWS SAM. Locally it runs on AWS's runtime interface client, or on Mayfly's. */

import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isA } from '../../../src/definition/error-text.ts'
import { abilitiesOf } from '../../contract/abilities.ts'
import { FACTS, shownValue } from '../../contract/facts.ts'
import {
  type Deployment,
  type DeploymentOptions,
  type DeployStep,
  type Finding,
  FOUND,
  type Launch,
  type Logs,
  type PreviewOptions,
  type Project,
  type Target,
} from '../../contract/target.ts'
import { ownModule } from '../../project/own-module.ts'
import { findProgram, resolveBin, resolveTool } from '../../project/project-tool.ts'
import { CliError, UsageError } from '../../terminal/cli-error.ts'
import { artefactDev } from '../artefact-dev.ts'
import { optionValue, pickOptions, withoutOptions } from '../tool-options.ts'
import { githubRole } from './github-role.ts'
import { variableOf } from './keyed-template.ts'
import {
  buildPackage,
  keepsTasks,
  keyedTablesOf,
  SECRETS_TEMPLATE_FILE,
  TEMPLATE_FILE,
  ZIP,
} from './package.ts'
import { AWS_OPTIONS, lambdaPlace, refuseStackName, STACK_OPTIONS } from './place.ts'
import { lambdaRemoval } from './release.ts'
import { lambdaSecrets, storable, storeGuard } from './secrets.ts'

const RIC = 'aws-lambda-ric'
const OLDEST_NODE = 22
const { lambda: facts } = FACTS
/** Where the package goes; without it, into SAM's own bucket, which all stacks of the account share. */
const BUCKET_OPTIONS = ['--s3-bucket']
const INSTALL_AWS =
  'pip install aws-sam-cli, and install version 2 of the AWS CLI (https://docs.aws.amazon.com/cli/latest/userguide/getting-started-install.html)'

const artefact: Pick<Target, 'build' | 'preview'> = { build: buildPackage, preview }

export const lambda: Target = {
  title: 'AWS Lambda',
  ...abilitiesOf('lambda'),
  defaultPort: 3000,
  cannotTellThatClientsLeft: true,
  marks: { files: ['samconfig.toml', 'samconfig.yaml'] },
  limits: [
    'a call may take as long as the function’s timeout',
    `a buffered response may be up to 4.7 MB, 3.1 MB behind a REST API and 0.73 MB behind a load balancer; a streamed one ${shownValue(facts.streamedBytes)}`,
  ],
  start: artefactDev(artefact),
  ...artefact,
  place: lambdaPlace,
  refuseName: refuseStackName,
  secretStore: (project, options) => ({ tool: TOOL, ...lambdaSecrets(project, options) }),
  removal: (project, options) => ({ tool: TOOL, ...lambdaRemoval(project, options) }),
  deployment,
  logs,
  examine,
  // No file in the project configures the deployment, only the built template and its parameters.
  files: ({ name }) => ({
    files: { 'aws/github-role.yaml': githubRole(name) },
    scripts: {},
    dependencies: {},
    devDependencies: {},
    ignored: [],
    ci: {
      setUp: [
        'variable AWS_ROLE_ARN: output of the stack aws/github-role.yaml, which says how to create it; no key is stored',
        'variable AWS_DEPLOY_OPTIONS: another output of it, the bucket and the limit of the server’s rights',
        'variable AWS_REGION: such as eu-west-1',
      ],
      variables: ['AWS_REGION', 'AWS_DEPLOY_OPTIONS'],
      // Two options for sam, so not quoted.
      toolOptions: '$AWS_DEPLOY_OPTIONS',
      hasIdToken: true,
      steps: CI_STEPS,
    },
  }),
}

/**
 * Exchanges GitHub's own token for credentials that expire after an hour: https://docs.github.com/actions/concepts/security/openid-connect
 */
const CI_STEPS = `- uses: aws-actions/configure-aws-credentials@v6
  with:
    role-to-assume: \${{ vars.AWS_ROLE_ARN }}
    aws-region: \${{ vars.AWS_REGION }}
- uses: aws-actions/setup-sam@v3
  with:
    use-installer: true
`

/** Behind a streaming Function URL, with the template's timeout. */
function preview(outDir: string, { port, project }: PreviewOptions): Launch {
  const aws = awsClient(project.cwd)
  return {
    command: ownModule('deploy/targets/lambda/local'),
    args: [
      join(outDir, ZIP),
      '--ric',
      'file' in aws ? aws.file : ownModule('deploy/targets/lambda/runtime-client'),
      '--port',
      String(port),
      ...localTables(project),
    ],
    cwd: project.cwd,
    ...('missing' in aws && { note: `${aws.missing}: ${OWN_CLIENT}` }),
  }
}

/** Execution environments do not share memory, so tasks, connections and events need a local table. */
function localTables(project: Project): string[] {
  const { env } = process
  return [
    ...(env.TASKS_TABLE || !keepsTasks(project) ? [] : ['--dynalite', resolveTool('dynalite', project.cwd)]),
    ...keyedTablesOf(project).flatMap((table) => (env[variableOf(table)] ? [] : [`--${table}`])),
  ]
}

/** Not part of a new project: npm compiles it for minutes, silently. */
const ASK_FOR_RIC = `npm install --save-optional ${RIC} compiles it for minutes, on Linux with cmake and a C++ compiler`

const OWN_CLIENT = 'the function runs on Mayfly’s own client, with the same events and answers'

/** AWS's runtime interface client: the file to run, or why it is not available. */
function awsClient(cwd: string): { file: string } | { missing: string; isUnasked?: true } {
  if (Number.parseInt(process.versions.node, 10) < OLDEST_NODE) {
    return { missing: `${RIC} needs Node ${OLDEST_NODE} or newer, and this is ${process.version}` }
  }
  try {
    const file = resolveBin(RIC, cwd)
    if (existsSync(join(dirname(file), 'rapid-client.node'))) return { file }
    return {
      missing: `${RIC} is installed without its native part (it compiles on Linux, with its install script allowed)`,
    }
  } catch (error) {
    if (!isA(error, CliError)) throw error
    return { missing: `${RIC} is not installed (${ASK_FOR_RIC})`, isUnasked: true }
  }
}

/** The file of AWS's runtime interface client. Throws `CliError` if it is not installed or cannot be. */
export function runtimeClient(cwd: string): string {
  const aws = awsClient(cwd)
  if ('file' in aws) return aws.file
  throw new CliError(aws.missing)
}

/** SAM uploads, but only the AWS CLI can check whether the user is logged in. */
const TOOL: Deployment['tool'] = {
  name: 'aws',
  install: INSTALL_AWS,
  // Short-lived credentials, which SAM also accepts: https://github.com/aws/aws-sam-cli/pull/8456
  login: 'aws login',
  whoami: ['sts', 'get-caller-identity'],
  token: 'AWS_ACCESS_KEY_ID',
}

function deployment(
  outDir: string,
  project: Project,
  { secrets, extra, stage }: DeploymentOptions,
): Deployment {
  const { cwd } = project
  const { name: stack } = lambdaPlace(project, { stage, extra })
  const secretId = `${stack}-secrets`
  const versionId = randomUUID()
  const { overrides, others } = splitOverrides(withoutOptions(extra, STACK_OPTIONS))
  if (secrets.size > 0 && overrides.some((word) => /\bStored(?:Variables|Version)\b/.test(word)))
    throw new UsageError('StoredVariables and StoredVersion are set by --secret: remove them, or --secret')
  if (stage !== undefined && overrides.some((word) => /^Stage=/.test(word)))
    throw new UsageError(`--stage ${stage} and the parameter Stage both name a stage: remove one of them`)
  // Both tools must use the same account and region.
  const common = pickOptions(others, AWS_OPTIONS)
  if (stage !== undefined) overrides.push(`Stage=${stage}`)
  if (secrets.size > 0) overrides.push(`StoredVariables=${secretId}`, `StoredVersion=${versionId}`)
  const upload: DeployStep = {
    title: 'upload the function and its trigger',
    command: 'sam',
    args: [
      'deploy',
      ...['--template-file', join(outDir, TEMPLATE_FILE)],
      ...['--stack-name', stack],
      ...(optionValue(others, BUCKET_OPTIONS) === undefined ? ['--resolve-s3'] : []),
      ...['--capabilities', 'CAPABILITY_IAM'],
      '--no-confirm-changeset',
      '--no-fail-on-empty-changeset',
      ...others,
      // An omitted parameter keeps its value from the last deployment.
      ...(overrides.length === 0 ? [] : ['--parameter-overrides', ...overrides]),
    ],
    cwd,
  }
  return {
    tool: { ...TOOL, whoami: [...TOOL.whoami, ...common] },
    notes: concurrencyNotes(overrides),
    steps: secrets.size === 0 ? [upload] : [...storeSecrets(), upload],
    endpoint: {
      step: outputsOf(stack, `[?ends_with(OutputKey, 'Endpoint')].OutputValue`, common, cwd),
      find: (told) => /https:\/\/\S+/.exec(told)?.[0],
    },
  }

  /** AWS has separate commands to create and to change a secret; deploying a stack does both. */
  function storeSecrets(): DeployStep[] {
    const given = Object.fromEntries(secrets)
    // Passes the version, so that the function's configuration changes when its secrets change.
    const toInput = (values: object): string =>
      JSON.stringify({ SecretId: secretId, ClientRequestToken: versionId, SecretString: storable(values) })
    return [
      {
        title: 'create a store for the secrets, if needed',
        args: [
          ...['cloudformation', 'deploy', '--template-file', join(outDir, SECRETS_TEMPLATE_FILE)],
          ...['--stack-name', secretId, '--no-fail-on-empty-changeset'],
          ...['--parameter-overrides', `StoreName=${secretId}`],
          ...common,
        ],
        cwd,
        guard: storeGuard(secretId, common, cwd),
      },
      {
        title: 'store the secrets',
        args: ['secretsmanager', 'put-secret-value', '--cli-input-json', 'file:///dev/stdin', ...common],
        cwd,
        stdin: toInput(given),
        // All secrets are one value: those that are not named stay in it.
        stdinFrom: {
          lookUp: {
            title: 'read the secrets that stay',
            args: [
              ...['secretsmanager', 'get-secret-value', '--secret-id', secretId],
              ...['--query', 'SecretString', '--output', 'json', ...common],
            ],
            cwd,
          },
          make: (found) => toInput({ ...storedIn(secretId, found), ...given }),
        },
      },
    ]
  }
}

/** What the store holds: the SecretString, as JSON. Throws `CliError` if that cannot be told, so that nothing in it is lost. */
function storedIn(store: string, found: string | undefined): object {
  const stored = parsed(parsed(found))
  if (typeof stored === 'object' && stored !== null && !Array.isArray(stored)) return stored
  throw new CliError(
    `${store} cannot be read as a JSON object, and storing would lose what it holds: see the output above, or run aws secretsmanager get-secret-value --secret-id ${store}`,
  )
}

function parsed(text: unknown): unknown {
  try {
    return typeof text === 'string' ? JSON.parse(text) : undefined
  } catch {
    return undefined
  }
}

/** Outputs of the stack, as text. `query` selects them, as JMESPath. */
function outputsOf(stack: string, query: string, common: readonly string[], cwd: string): DeployStep {
  return {
    title: 'read the stack outputs',
    args: [
      ...['cloudformation', 'describe-stacks', '--stack-name', stack],
      ...['--query', `Stacks[0].Outputs${query}`, '--output', 'text', ...common],
    ],
    cwd,
  }
}

function logs(project: Project, extra: readonly string[]): Logs {
  const { cwd, stage } = project
  const { name: stack } = lambdaPlace(project, { stage, extra })
  const others = withoutOptions(extra, STACK_OPTIONS)
  const common = pickOptions(others, AWS_OPTIONS)
  return {
    tool: { ...TOOL, whoami: [...TOOL.whoami, ...common] },
    lookup: outputsOf(stack, `[?OutputKey=='LogGroupName'].OutputValue`, common, cwd),
    nothing: `the stack ${stack} has no log group: deploy ${stage ?? 'the server'} with this version of Mayfly, ${stage === undefined ? 'or name its stack with -- --stack-name <name>' : `as in mayfly deploy --stage ${stage}`}`,
    step: { title: 'show the log', args: ['logs', 'tail', FOUND, '--follow', ...others], cwd },
  }
}

/** New accounts have few concurrent executions. If too few would stay unreserved, the stack fails and rolls back after minutes. */
function concurrencyNotes(overrides: readonly string[]): string[] {
  const asked = overrides.map((word) => /^MaxConcurrency=([1-9]\d*)$/.exec(word)?.[1]).find(Boolean)
  if (asked === undefined) return []
  const { value } = facts.unreservedExecutions
  return [
    `MaxConcurrency=${asked} fails unless ${value} executions of the account stay unreserved, and new accounts have fewer: aws lambda get-account-settings must show UnreservedConcurrentExecutions of ${value + Number(asked)} or more`,
  ]
}

/** SAM accepts the option for parameters only once, so those of the command line and Mayfly's are merged. */
function splitOverrides(extra: readonly string[]): { overrides: string[]; others: string[] } {
  const overrides: string[] = []
  const others: string[] = []
  let isOverride = false
  for (const word of extra) {
    const option = /^--parameter-overrides(?:=(.*))?$/s.exec(word)
    if (word.startsWith('-')) isOverride = option !== null
    if (option !== null) overrides.push(...option.slice(1).filter(Boolean))
    else if (isOverride) overrides.push(word)
    else others.push(word)
  }
  return { overrides, others }
}

async function examine({ cwd }: Project): Promise<Finding[]> {
  return [examineRuntimeClient(cwd), examineProgram('sam'), examineProgram('aws')]
}

function examineRuntimeClient(cwd: string): Finding {
  const aws = awsClient(cwd)
  // Deployments do not need a local runtime.
  if ('missing' in aws)
    return { level: aws.isUnasked ? 'ok' : 'warning', message: `${aws.missing}: here ${OWN_CLIENT}` }
  const { version } = JSON.parse(readFileSync(resolveTool(`${RIC}/package.json`, cwd), 'utf8')) as {
    version: string
  }
  return { level: 'ok', message: `${RIC} ${version}` }
}

function examineProgram(name: string): Finding {
  return findProgram(name) === undefined
    ? { level: 'warning', message: `${name} is not installed: to deploy, run ${INSTALL_AWS}` }
    : { level: 'ok', message: `${name} found` }
}
