/** AWS Lambda: one zip and one template, which AWS SAM deploys; here it runs on AWS's own runtime interface client. */
import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { artefactDev } from '../artefact-dev.ts'
import { CliError } from '../cli-error.ts'
import { findProgram, resolveBin, resolveTool } from '../project-tool.ts'
import type {
  Deployment,
  DeploymentOptions,
  DeployStep,
  Finding,
  Launch,
  PreviewOptions,
  Project,
  Target,
} from '../target.ts'
import { buildPackage, SECRETS_TEMPLATE_FILE, TEMPLATE_FILE, ZIP } from './package.ts'

const RIC = 'aws-lambda-ric'
const OLDEST_NODE = 22
/** "Environment variables: 4 KB" is for all of a function's, with their names. */
const MAX_SECRETS_BYTES = 4000

const artefact: Pick<Target, 'build' | 'preview'> = { build: buildPackage, preview }

export const lambda: Target = {
  title: 'AWS Lambda',
  defaultPort: 3000,
  limits: [
    'a call may take as long as the function’s timeout',
    'a whole response may have 4.7 MB, 3.1 MB behind a REST API and 0.73 MB behind a load balancer; a streamed one 200 MB',
  ],
  start: artefactDev(artefact),
  ...artefact,
  deployment,
  examine,
  // How it is deployed is in the template that is built, and in its parameters.
  files: () => ({
    files: {},
    scripts: {},
    dependencies: {},
    devDependencies: { [RIC]: '^4.0.2' },
    ignored: [],
  }),
}

/** Behind a Function URL that streams, with the timeout of the template. */
function preview(outDir: string, { port, project }: PreviewOptions): Launch {
  const local = fileURLToPath(
    new URL(`local${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url),
  )
  return {
    command: local,
    args: [join(outDir, ZIP), '--ric', runtimeClient(project.cwd), '--port', String(port)],
    cwd: project.cwd,
  }
}

/** The file to run. Throws `CliError` where it is not installed, or cannot be. */
export function runtimeClient(cwd: string): string {
  const file = resolveBin(RIC, cwd)
  if (existsSync(join(dirname(file), 'rapid-client.node'))) return file
  throw new CliError(
    `${RIC} was installed without its native part, which it compiles on Linux only: allow its install script (npm install-scripts approve ${RIC}), or try out with --target node`,
  )
}

function deployment(
  outDir: string,
  { name, cwd }: Project,
  { secrets, extra }: DeploymentOptions,
): Deployment {
  const secretId = `${name}-secrets`
  const versionId = randomUUID()
  const { overrides, others } = splitOverrides(extra)
  if (secrets.size > 0) overrides.push(`StoredVariables=${secretId}`, `StoredVersion=${versionId}`)
  const upload: DeployStep = {
    title: 'upload the function and its trigger',
    command: 'sam',
    args: [
      'deploy',
      ...['--template-file', join(outDir, TEMPLATE_FILE)],
      ...['--stack-name', name],
      '--resolve-s3',
      ...['--capabilities', 'CAPABILITY_IAM'],
      '--no-confirm-changeset',
      '--no-fail-on-empty-changeset',
      ...others,
      // A parameter that is not named stays as it was at the last deployment.
      ...(overrides.length === 0 ? [] : ['--parameter-overrides', ...overrides]),
    ],
    cwd,
  }
  return {
    // SAM uploads, but only the AWS CLI can say whether anybody is logged in.
    tool: {
      name: 'aws',
      install: 'pip install awscli aws-sam-cli',
      login: 'aws configure',
      whoami: ['sts', 'get-caller-identity'],
      token: 'AWS_ACCESS_KEY_ID',
    },
    steps: secrets.size === 0 ? [upload] : [...storeSecrets(), upload],
  }

  /** A secret that does not exist cannot be given a value, and one that does cannot be created: the stack is both. */
  function storeSecrets(): DeployStep[] {
    const value = JSON.stringify(Object.fromEntries(secrets))
    if (Buffer.byteLength(value) > MAX_SECRETS_BYTES) {
      throw new CliError(
        'these secrets are too large together: Lambda takes 4 KB of environment variables; keep large ones in a store and read them at run time',
      )
    }
    return [
      {
        title: 'make a store for the secrets, unless there is one',
        args: [
          ...['cloudformation', 'deploy', '--template-file', join(outDir, SECRETS_TEMPLATE_FILE)],
          ...['--stack-name', secretId, '--no-fail-on-empty-changeset'],
          ...['--parameter-overrides', `StoreName=${secretId}`],
        ],
        cwd,
      },
      {
        title: 'store the secrets',
        args: ['secretsmanager', 'put-secret-value', '--cli-input-json', 'file:///dev/stdin'],
        cwd,
        // The version is named, so that the function's configuration changes with its secrets.
        stdin: JSON.stringify({ SecretId: secretId, ClientRequestToken: versionId, SecretString: value }),
      },
    ]
  }
}

/** SAM takes parameters once: those of the command line and ours become one list. */
function splitOverrides(extra: readonly string[]): { overrides: string[]; others: string[] } {
  const overrides: string[] = []
  const others: string[] = []
  let isOverride = false
  for (const word of extra) {
    if (word.startsWith('-')) isOverride = word === '--parameter-overrides'
    if (word === '--parameter-overrides') continue
    if (isOverride) overrides.push(word)
    else others.push(word)
  }
  return { overrides, others }
}

async function examine({ cwd }: Project): Promise<Finding[]> {
  return [examineNode(), examineRuntimeClient(cwd), examineProgram('sam'), examineProgram('aws')]
}

function examineNode(): Finding {
  const major = Number.parseInt(process.versions.node, 10)
  return major >= OLDEST_NODE
    ? { level: 'ok', message: `Node ${process.version}` }
    : {
        level: 'warning',
        message: `Node ${process.version} is older than Lambda’s: install Node ${OLDEST_NODE} or newer to run the function here`,
      }
}

function examineRuntimeClient(cwd: string): Finding {
  try {
    runtimeClient(cwd)
    const { version } = JSON.parse(readFileSync(resolveTool(`${RIC}/package.json`, cwd), 'utf8')) as {
      version: string
    }
    return { level: 'ok', message: `${RIC} ${version}` }
  } catch (error) {
    if (!(error instanceof CliError)) throw error
    // Deploying needs no runtime on this machine.
    return { level: 'warning', message: error.message }
  }
}

function examineProgram(name: string): Finding {
  return findProgram(name) === undefined
    ? { level: 'warning', message: `${name} is not installed: to deploy, run pip install awscli aws-sam-cli` }
    : { level: 'ok', message: `${name} found` }
}
