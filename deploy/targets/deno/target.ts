/** Deno and Deno Deploy: a program that serves. */

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { textOf } from '../../../src/definition/error-text.ts'
import { bundleServer, NODE_BANNER } from '../../build/bundle-server.ts'
import { abilitiesOf } from '../../contract/abilities.ts'
import type { Place, PlaceOptions } from '../../contract/place.ts'
import type { Deployment, DeploymentOptions, Finding, Logs, Project, Target } from '../../contract/target.ts'
import { type Cron, cronCall, cronsOf } from '../../project/cron.ts'
import { toEnvFile } from '../../project/secrets.ts'
import { withStage } from '../../project/stages.ts'
import { CliError } from '../../terminal/cli-error.ts'
import { artefactDev } from '../artefact-dev.ts'
import { pickOptions, withoutOptions } from '../tool-options.ts'
import { type DeployConfig, denoPlace } from './place.ts'
import { DENO_OFFLINE, DENO_RUN, denoDrain, denoProgram } from './program.ts'
import { denoSecrets } from './secrets.ts'

/** Open `subscriptions/listen` streams would not end by themselves. */
const END_STREAMS = `Promise.try(() => server.close?.()).catch(() => console.error('server.close() failed'))
  `

const main = (crons: readonly Cron[]): string => `import server from 'mayfly:entry'
import { deno } from 'mayfly-mcp/deno'

const handler = deno(server)
// On Deno Deploy, the callers whose tokens are set are served.
const { DENO_DEPLOYMENT_ID, ...env } = Deno.env.toObject()
const { authFault } = (DENO_DEPLOYMENT_ID === undefined && server.getDeploymentInfo?.(env)) || {}
if (authFault !== undefined) {
  console.error(\`auth: \${authFault}\`)
  Deno.exit(1)
}
const running = Deno.serve(handler)
// Deno Deploy ends an instance 5 seconds after SIGINT, or immediately after a second one.
${denoDrain(END_STREAMS)}${crons.length === 0 ? '' : `// Available on Deno Deploy; elsewhere it needs a flag.\nif (typeof Deno.cron === 'function') {\n${crons.map(denoCron).join('')}}\n`}`

/** Each needs a name of its own. */
const denoCron = (cron: Cron, at: number): string =>
  `Deno.cron('mayfly${at === 0 ? '' : `-${at + 1}`}', '${cron.schedule}', ${cronCall([cron], { fetch: 'handler' })})\n`

const artefact: Pick<Target, 'build' | 'preview'> = {
  build: async (project, outDir, earlier) => {
    const file = 'server.js'
    const { size } = await bundleServer(project, {
      main: main(cronsOf(project)),
      outfile: join(outDir, file),
      platform: 'node',
      conditions: ['deno'],
      banner: NODE_BANNER,
      isSplit: true,
    })
    const tasks = { start: `deno run --allow-net --allow-env ${file}` }
    // `deno deploy create` and `switch` may have written the organization and the app there.
    const deploy = { ...(earlier !== undefined && deployConfig(earlier)), ...deployConfig(project.cwd) }
    // Otherwise `request.signal` also aborts after a response, and Deno says so on stderr. Before 2.9 it does not know the feature.
    const common = { tasks, unstable: ['no-legacy-abort'] }
    const config = Object.keys(deploy).length === 0 ? common : { ...common, deploy }
    writeFileSync(join(outDir, 'deno.json'), `${JSON.stringify(config, null, 2)}\n`)
    // git often ignores the build folder, and deno deploy skips ignored files.
    writeFileSync(join(outDir, '.gitignore'), '!*\n')
    return { main: file, size, limits: [] }
  },
  preview: (outDir, { port, project }) => ({
    command: denoProgram(project.cwd),
    args: [...DENO_RUN, join(outDir, 'server.js')],
    cwd: outDir,
    env: { ...DENO_OFFLINE, DENO_SERVE_ADDRESS: `tcp:127.0.0.1:${port}` },
  }),
}

export const deno: Target = {
  title: 'Deno Deploy',
  ...abilitiesOf('deno'),
  defaultPort: 8000,
  marks: { files: ['deno.json', 'deno.jsonc'], lockfiles: ['deno.lock'] },
  limits: ['a call may take as long as its client waits'],
  start: artefactDev(artefact),
  ...artefact,
  hasPreviews: true,
  place,
  secretStore: (project, options) => ({ tool: TOOL, ...denoSecrets(place(project, options), options) }),
  removal: () => {
    throw new CliError("Deno's tool removes no app: remove it in the app's settings on console.deno.com")
  },
  deployment,
  logs,
  examine,
  files: () => ({
    files: {},
    scripts: {},
    dependencies: {},
    devDependencies: { deno: '^2.9.5' },
    ignored: [],
    ci: {
      setUp: [
        'secret DENO_DEPLOY_TOKEN: a token of the organization, with an expiry date',
        'variables DENO_DEPLOY_ORG and DENO_DEPLOY_APP: the values passed to deno deploy create',
      ],
      secrets: ['DENO_DEPLOY_TOKEN'],
      variables: ['DENO_DEPLOY_ORG', 'DENO_DEPLOY_APP'],
      previewReads:
        "the app's variables for the context Development, which are production's unless you set others there",
    },
  }),
}

const TOOL: Deployment['tool'] = {
  name: 'deno',
  npm: 'deno',
  install: 'npm install --save-dev deno',
  login: 'npx deno deploy switch',
  whoami: ['deploy', 'whoami', '--non-interactive'],
  token: 'DENO_DEPLOY_TOKEN',
}

/** The deployment's host begins with the app's name and ends in the organization's domain; the dashboard is elsewhere. */
function endpointIn(told: string, isPreview: boolean): string | undefined {
  const urls = [...told.matchAll(/https:\/\/[a-z\d-]+\.[a-z\d-]+\.deno\.net\b/g)].map(([url]) => url)
  // The host of a revision is longer: https://docs.deno.com/deploy/reference/domains/
  const byLength = urls.toSorted((a, b) => a.length - b.length)
  const url = isPreview ? byLength.at(-1) : byLength[0]
  return url === undefined ? undefined : `${url}/mcp`
}

function logs(project: Project, extra: readonly string[]): Logs {
  const others = withoutOptions(extra, ['--org', '--app'])
  const { options: app } = place(project, { stage: project.stage, extra })
  const step = { title: 'show the log', args: ['deploy', 'logs', ...app, ...others], cwd: project.cwd }
  return { tool: TOOL, step }
}

/** https://docs.deno.com/runtime/reference/cli/deploy/ The app must exist: `deno deploy create` creates it. */
function deployment(
  outDir: string,
  project: Project,
  { secrets, extra, isPreview = false, stage }: DeploymentOptions,
): Deployment {
  const place = denoPlace(project, { stage, extra }, configured(project, outDir))
  const variables = withStage(secrets, stage)
  const common = [...place.options, '--non-interactive']
  const others = withoutOptions(extra, ['--org', '--app'])
  const token = pickOptions(others, ['--token'])
  const setSecrets = {
    title: `upload ${[...variables.keys()].join(', ')}`,
    args: ['deploy', 'env', 'load', '/dev/stdin', '--replace', ...common, ...token],
    cwd: outDir,
    stdin: toEnvFile(variables),
  }
  return {
    tool: TOOL,
    steps: [
      ...(variables.size > 0 ? [setSecrets] : []),
      {
        title: 'upload the server',
        args: ['deploy', ...(isPreview ? [] : ['--prod']), ...common, ...others],
        cwd: outDir,
        tells: 'stdout' as const,
      },
    ],
    endpoint: { find: (told) => endpointIn(told, isPreview) },
  }
}

function place(project: Project, options: PlaceOptions): Place {
  return denoPlace(project, options, configured(project, join(project.cwd, 'dist/deno')))
}

/** As `deno deploy` wrote it into the build, and before it the project's own. */
function configured({ cwd }: Project, outDir: string): DeployConfig {
  return { ...deployConfig(outDir), ...deployConfig(cwd) }
}

function deployConfig(cwd: string): DeployConfig {
  const file = ['deno.json', 'deno.jsonc'].map((one) => join(cwd, one)).find((path) => existsSync(path))
  if (file === undefined) return {}
  // Removes comments and trailing commas, but not inside strings.
  const json = readFileSync(file, 'utf8').replaceAll(
    /("(?:\\.|[^"\\])*")|\/\/.*|\/\*[\s\S]*?\*\/|,(?=\s*[}\]])/g,
    (_match, text: string | undefined) => text ?? '',
  )
  try {
    return (JSON.parse(json) as { deploy?: DeployConfig }).deploy ?? {}
  } catch (error) {
    throw new CliError(`cannot read ${file}: ${textOf(error)}`)
  }
}

async function examine({ cwd }: Project): Promise<Finding[]> {
  try {
    return [{ level: 'ok', message: `deno found: ${denoProgram(cwd)}` }]
  } catch (error) {
    return [{ level: 'error', message: textOf(error) }]
  }
}
