/** Cloudflare Workers, through the project's own wrangler, which bundles, runs and deploys as it would without Mayfly. */

import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { isA } from '../../../src/definition/error-text.ts'
import { abilitiesOf } from '../../contract/abilities.ts'
import { FACTS, shownValue, sizeLimit } from '../../contract/facts.ts'
import type {
  Artefact,
  Deployment,
  DeploymentOptions,
  Finding,
  Launch,
  Logs,
  NewProject,
  Project,
  Target,
} from '../../contract/target.ts'
import { displayPath } from '../../project/entry.ts'
import { STAGE_VARIABLE } from '../../project/stages.ts'
import { startProcessGroup } from '../../run/process-group.ts'
import { CliError } from '../../terminal/cli-error.ts'
import { terminal } from '../../terminal/terminal.ts'
import { COMPATIBILITY, CONFIG_NAMES, findWranglerConfig, wranglerConfig } from './config.ts'
import { startDev } from './dev.ts'
import { checkWorkerEntry } from './entry-check.ts'
import { objectFindings, triggers } from './objects.ts'
import { cloudflarePlace } from './place.ts'
import { cloudflareRemoval, cloudflareRollback } from './release.ts'
import { cloudflareSecrets } from './secrets.ts'
import { startupWarnings } from './startup.ts'
import { devArgs, filesForWrangler, OFFLINE, OLDEST_NODE, wranglerBin, wranglerVersion } from './wrangler.ts'

const { cloudflare: facts } = FACTS
const LIMITS: Artefact['limits'] = [sizeLimit(facts.workerBytes, 'raw')]

const CONFIG_FILE = 'wrangler.json'

export const cloudflare: Target = {
  title: 'Cloudflare Workers',
  ...abilitiesOf('cloudflare'),
  defaultPort: 8787,
  oldestNode: OLDEST_NODE,
  hasOwnVariables: true,
  marks: { files: CONFIG_NAMES },
  limits: [
    `a call may take as long as its client waits, with ${shownValue(facts.freeCpuMs)} of CPU time on the Free plan and ${shownValue(facts.paidCpuMs)} on the Paid one`,
    `a Worker may be up to ${shownValue(facts.workerBytes)}, and has ${shownValue(facts.startupMs)} to start`,
  ],
  start: startDev,
  build,
  tryOut: (outDir, { main }, { cwd }) => startupWarnings(join(outDir, main), cwd),
  preview,
  hasPreviews: true,
  place: cloudflarePlace,
  secretStore: (project, options) => ({ tool: TOOL, ...cloudflareSecrets(project, options) }),
  rollback: (project, options) => ({ tool: TOOL, ...cloudflareRollback(project, options) }),
  removal: (project, options) => ({ tool: TOOL, ...cloudflareRemoval(project, options) }),
  deployment,
  logs,
  examine,
  triggers,
  files,
}

async function build(project: Project, outDir: string): Promise<Artefact> {
  const bin = wranglerBin(project.cwd)
  filesForWrangler(project)
  await checkWorkerEntry(project.entry, project.cwd)
  const config = wranglerConfig(project.cwd)
  const args = ['deploy', project.entry, '--dry-run', '--minify', '--outdir', outDir, ...config.args]
  try {
    const { code, output } = await run([bin, ...args], project.cwd)
    if (code !== 0) {
      terminal.pass(output)
      throw new CliError(`wrangler cannot build ${displayPath(project.entry)}: see its output above`)
    }
  } finally {
    config.dispose()
  }
  const main = `${basename(project.entry).replace(/\.\w+$/, '')}.js`
  const code = readFileSync(join(outDir, main))
  // A project without a configuration still needs one to be deployed.
  if (findWranglerConfig(project.cwd) === undefined) {
    writeFileSync(
      join(outDir, CONFIG_FILE),
      JSON.stringify({ name: project.name, main, ...COMPATIBILITY, upload_source_maps: true }),
    )
  }
  return { main, size: { raw: code.byteLength, gzip: gzipSync(code).byteLength }, limits: LIMITS }
}

/** Runs a Node script and resolves with its output. A signal to this process ends the script and everything it started. */
async function run(args: readonly string[], cwd: string): Promise<{ code: number; output: string }> {
  const env = { ...process.env, ...OFFLINE }
  const group = startProcessGroup(args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [group.child.stdout, group.child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  const closed = once(group.child, 'close')
  const code = await group.exited
  await group.stop()
  await closed
  return { code, output }
}

function preview(outDir: string, { port, project }: { port: number; project: Project }): Launch {
  return {
    command: wranglerBin(project.cwd),
    args: ['dev', ...builtWorker(outDir, project), ...devArgs(port, project)],
    cwd: project.cwd,
    env: OFFLINE,
  }
}

const TOOL: Deployment['tool'] = {
  name: 'wrangler',
  npm: 'wrangler',
  install: 'npm install --save-dev wrangler',
  login: 'npx wrangler login',
  whoami: ['whoami', '--json'],
  token: 'CLOUDFLARE_API_TOKEN',
}

function deployment(
  outDir: string,
  project: Project,
  { secrets, extra, isPreview = false, stage }: DeploymentOptions,
): Deployment {
  filesForWrangler(project)
  const upload = isPreview ? ['versions', 'upload'] : ['deploy']
  const place = cloudflarePlace(project, { stage, extra })
  return {
    tool: TOOL,
    steps: [
      {
        title: secrets.size === 0 ? 'upload the Worker' : 'upload the Worker and its secrets',
        args: [
          ...upload,
          ...builtWorker(outDir, project),
          // Keeps variables that were set in the dashboard.
          '--keep-vars',
          ...place.options,
          ...(stage === undefined ? [] : ['--var', `${STAGE_VARIABLE}:${stage}`]),
          ...(secrets.size === 0 ? [] : ['--secrets-file', '/dev/stdin']),
          ...extra,
        ],
        cwd: project.cwd,
        ...(place.env && { env: place.env }),
        ...(secrets.size > 0 && { stdin: JSON.stringify(Object.fromEntries(secrets)) }),
        // https://developers.cloudflare.com/workers/wrangler/system-environment-variables/
        tells: { variable: 'WRANGLER_OUTPUT_FILE_PATH' },
      },
    ],
    ...(isPreview && {
      notes: [
        'a preview is a version of the Worker, so it reads its secrets and changes its stores: for others, deploy a stage',
      ],
    }),
    endpoint: { find: endpointIn },
  }
}

/** One JSON object per line: routes and domains for a deployment, the preview URL for a version. */
function endpointIn(told: string): string | undefined {
  const reports = told
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as { targets?: string[]; preview_url?: string; type?: string })
  const { targets = [], preview_url } = reports.find(({ type }) => type !== 'wrangler-session') ?? {}
  // The user's own domain wins over workers.dev; a schedule or a route with a pattern is not a URL.
  const urls = targets.map(routeUrl).filter((url) => url !== undefined)
  const found = preview_url ?? urls.find((url) => !url.endsWith('.workers.dev')) ?? urls[0]
  return found === undefined ? undefined : new URL('/mcp', found).href
}

/** `https://shop.acme.workers.dev`, `mcp.shop.example (custom domain)`, or `mcp.shop.example/* (zone name: shop.example)`. */
function routeUrl(target: string): string | undefined {
  const [pattern = ''] = target.split(' ', 1)
  // The endpoint is at /mcp: a pattern of a part of the host is not its URL.
  const name = pattern.replace(/\/(?:\*|mcp\/?\*?)$/, '')
  const url = name.startsWith('https://') ? name : `https://${name}`
  return /^https:\/\/[a-z\d-]+(?:\.[a-z\d-]+)+\/?$/i.test(url) ? url : undefined
}

function logs(project: Project, extra: readonly string[]): Logs {
  filesForWrangler(project)
  const config = findWranglerConfig(project.cwd)
  const { stage } = project
  const place = stage === undefined ? undefined : cloudflarePlace(project, { stage, extra })
  const worker =
    config === undefined ? [place?.name ?? project.name] : ['--config', config, ...(place?.options ?? [])]
  const step = { title: 'show the log', args: ['tail', ...worker, ...extra], cwd: project.cwd }
  return { tool: TOOL, step: { ...step, ...(place?.env && { env: place.env }) } }
}

/** Options that make wrangler upload the build unchanged. */
function builtWorker(outDir: string, project: Project): string[] {
  const main = join(outDir, `${basename(project.entry).replace(/\.\w+$/, '')}.js`)
  return [main, '--no-bundle', '--config', findWranglerConfig(project.cwd) ?? join(outDir, CONFIG_FILE)]
}

async function examine(project: Project): Promise<Finding[]> {
  const { cwd } = project
  const findings: Finding[] = []
  const objects = await objectFindingsOrFault(project)
  try {
    wranglerBin(cwd)
    findings.push({ level: 'ok', message: `wrangler ${wranglerVersion(cwd)}` })
  } catch (error) {
    if (!isA(error, CliError)) throw error
    findings.push({ level: 'error', message: error.message })
  }
  const config = findWranglerConfig(cwd)
  if (config === undefined) {
    findings.push({
      level: 'warning',
      message:
        'no wrangler.toml: the Worker is named after the project, without bindings; mayfly init writes one',
    })
    return [...findings, ...objects]
  }
  const text = readFileSync(config, 'utf8')
  findings.push({ level: 'ok', message: `${basename(config)} found` }, ...objects)
  findings.push(...nodeCompatibility(text, basename(config)))
  if (!text.includes('enable_request_signal')) {
    findings.push({
      level: 'warning',
      message: `ctx.signal does not abort when a client goes away: add "enable_request_signal" to compatibility_flags in ${basename(config)}`,
    })
  }
  return findings
}

async function objectFindingsOrFault(project: Project): Promise<Finding[]> {
  try {
    return await objectFindings(project)
  } catch (error) {
    if (!isA(error, CliError)) throw error
    return [{ level: 'error', message: error.message }]
  }
}

/** With a date that turns it on, workerd refuses the flag. */
function nodeCompatibility(config: string, file: string): Finding[] {
  const date = /\bcompatibility_date"?\s*[=:]\s*"(\d{4}-\d\d-\d\d)"/.exec(config)?.[1]
  const { value } = facts.nodejsCompatFrom
  if (date === undefined || date < value || !/"nodejs_compat(?:_v2)?"/.test(config)) return []
  const message = `nodejs_compat is on from compatibility date ${value}, and an error as a flag: remove it from compatibility_flags in ${file}`
  return [{ level: 'warning', message }]
}

/** The lines of wrangler.toml for the Durable Objects of a class of `mayfly-mcp/cloudflare`. */
function objects(name: 'Alarms' | 'Events' | 'Grants' | 'Tasks', about: string): string {
  return `
# ${about}
[[durable_objects.bindings]]
name = "${name.toUpperCase()}"
class_name = "Mayfly${name}"

[[migrations]]
tag = "mayfly-${name.toLowerCase()}-1"
new_sqlite_classes = ["Mayfly${name}"]
`
}

const TASKS = objects('Tasks', 'One object per task: src/tasks.ts.')
const EVENTS = [
  objects('Events', 'Subscriptions and events: src/events.ts.'),
  objects('Alarms', 'Repeat deliveries that failed: src/events.ts.'),
].join('')
const GRANTS = objects('Grants', 'The connections of people who signed in: src/sign-in.ts.')

function files({
  name,
  hasTasks = false,
  hasEvents = false,
  hasGrants = false,
}: NewProject): ReturnType<Target['files']> {
  return {
    files: {
      'wrangler.toml': `name = "${name}"
main = "src/server.ts"
compatibility_date = "${COMPATIBILITY.compatibility_date}"
# Aborts ctx.signal when a client disconnects; no compatibility date turns it on.
compatibility_flags = ["enable_request_signal"]
# Stack traces in the log refer to your own files and lines.
upload_source_maps = true

# A custom domain, in a zone of this account:
# routes = [{ pattern = "mcp.example.com", custom_domain = true }]

# The account, if a login or a token has several (or CLOUDFLARE_ACCOUNT_ID in the environment):
# account_id = ""

[observability]
enabled = true
# The share of requests that is logged; every line costs (docs/deploy/cloudflare.md).
head_sampling_rate = 1

# Limits the CPU time of a call; only on the Paid plan (default 30000, at most 300000).
# [limits]
# cpu_ms = 1000
${hasTasks ? TASKS : ''}${hasEvents ? EVENTS : ''}${hasGrants ? GRANTS : ''}`,
    },
    scripts: {},
    dependencies: {},
    devDependencies: { wrangler: '^4.155.0' },
    ignored: ['.wrangler/', '.dev.vars', '.dev.vars.*', '!.dev.vars.example'],
    ci: {
      setUp: [
        'secret CLOUDFLARE_API_TOKEN: from the template "Edit Cloudflare Workers", for one account, with an expiry date',
        'variable CLOUDFLARE_ACCOUNT_ID: required if the token is for several accounts',
      ],
      secrets: ['CLOUDFLARE_API_TOKEN'],
      variables: ['CLOUDFLARE_ACCOUNT_ID'],
    },
  }
}
