/** `mayfly deploy`: builds, checks, and lets the platform's own tool upload. */
import { join, relative } from 'node:path'
import type { Artefact, Deployment, DeployStep, Project, Target } from '../contract/target.ts'
import { readSecrets, unsentSecrets } from '../project/secrets.ts'
import { buildInto, buildWarnings, describeSize } from '../targets/build-into.ts'
import { type DeployTool, findTool, isLoggedIn, runStep } from '../targets/deploy-tool.ts'
import { CliError, UsageError } from '../terminal/cli-error.ts'
import { quoted } from '../terminal/console.ts'
import { terminal } from '../terminal/terminal.ts'
import type { ProjectTarget } from './_choose-project.ts'
import { checkEndpoint, findEndpoint } from './_endpoint.ts'
import { COMMON_HELP, outFolder, projectCommand } from './_project-command.ts'

const HELP = `mayfly deploy [entry] [--target <name>] [--secret <NAME>]... [--preview] [--check] [--dry-run]
              [--out <folder>] [--quiet] [-- <for the tool>...]

${COMMON_HELP}
  --secret   hand this variable to the platform's secret store; its value comes from the environment, else .env or .dev.vars
  --preview  deploy to a URL of its own, beside what clients use (cloudflare, vercel, netlify, deno)
  --check    run mayfly check against the deployed server, and end with its exit code
  --dry-run  do all but the upload, and print what would be run
  --out      where to build; default dist/<target>
  --         everything after it goes to the platform's own tool

Ends with the URL of the MCP endpoint, on stdout; what the platform's tool prints is on stderr.

  mayfly deploy --secret MAYFLY_SECRET
  mayfly deploy --target vercel --dry-run
`

/** Options of the tools that may have a variable as `NAME=value`. */
const VARIABLE_OPTION = /^(?:-e|--(?:build-)?env|--var)$/

/** Options of the tools whose value grants access. */
const HIDDEN_OPTION = /^(?:-t|--?[\w-]*(?:token|auth|password|secret|key))$/i

/** Exit code 0 when everything is deployed, else that of the tool that failed. Throws `CliError`. */
export const deploy = projectCommand({
  name: 'deploy',
  help: HELP,
  options: {
    secret: { type: 'string', multiple: true },
    'dry-run': { type: 'boolean' },
    preview: { type: 'boolean' },
    check: { type: 'boolean' },
    out: { type: 'string' },
  },
  hasToolOptions: true,
  run: deployProject,
})

interface DeployValues {
  readonly secret?: readonly string[] | undefined
  readonly 'dry-run'?: boolean | undefined
  readonly preview?: boolean | undefined
  readonly check?: boolean | undefined
  readonly out?: string | undefined
}

async function deployProject(
  chosen: ProjectTarget,
  values: DeployValues,
  extra: readonly string[],
): Promise<number> {
  const { project, target } = chosen
  const { cwd } = project
  const { preview: isPreview = false } = values
  if (isPreview && !target.hasPreviews) {
    throw new UsageError(
      `${target.title} has no previews: deploy a second server, under another name, and try things out there`,
    )
  }
  const secrets = readSecrets(project, values.secret ?? [])
  const outDir = outFolder(chosen, values.out)

  const artefact = await buildInto(target, project, outDir, { secrets })
  terminal.note(`built ${relative(cwd, join(outDir, artefact.main))}: ${describeSize(artefact.size)}`)
  await refuseUndeployable(target, project, artefact)
  for (const line of (await target.tryOut?.(outDir, artefact, project)) ?? []) terminal.note(line)

  const deployment = target.deployment(outDir, project, { secrets, extra, isPreview })
  for (const name of unsentSecrets(project, secrets)) {
    terminal.warn(`${name} is not uploaded: pass --secret ${name} to send it to ${target.title}`)
  }
  for (const note of deployment.notes ?? []) terminal.note(note)
  if (values['dry-run']) return dryRun(deployment, project)
  const tool = requireTool(deployment, project)
  if (!(await isLoggedIn(tool, deployment, cwd))) throw new CliError(notLoggedIn(deployment))
  let told = ''
  for (const step of deployment.steps) {
    terminal.note(step.title)
    const ran = await runStep(step, tool)
    if (ran.code !== 0) {
      terminal.warn(`${step.title} failed with exit code ${ran.code}: see the output above`)
      return ran.code
    }
    told = ran.told
  }
  const url = await findEndpoint(deployment, told, tool)
  return finish(url, deployment, values.check === true)
}

/** Prints the last lines: where the server is, and whether it works. */
async function finish(
  url: string | undefined,
  { endpoint }: Deployment,
  isChecked: boolean,
): Promise<number> {
  if (url === undefined) {
    terminal.warn(
      "deployed; the platform's tool did not print the URL: see its output above, then run mayfly check <url>",
    )
    return isChecked ? 1 : 0
  }
  process.stdout.write(`deployed ${url}\n`)
  return isChecked ? checkEndpoint(url, endpoint?.headers) : 0
}

async function dryRun(deployment: Deployment, project: Project): Promise<number> {
  const tool = findTool(deployment.tool, project.cwd)
  if (tool === undefined) terminal.warn(notInstalled(deployment))
  else if (!(await isLoggedIn(tool, deployment, project.cwd))) terminal.warn(notLoggedIn(deployment))
  for (const step of deployment.steps) process.stdout.write(`${shownStep(step, deployment, project.cwd)}\n`)
  return 0
}

/** Throws for the platform's errors that `mayfly doctor` finds. Size limits only warn: the platform may have raised them. */
async function refuseUndeployable(target: Target, project: Project, artefact: Artefact): Promise<void> {
  for (const line of await buildWarnings(artefact, target, project)) terminal.warn(line)
  for (const { level, message } of await target.examine(project)) {
    if (level === 'error') throw new CliError(message)
    if (level === 'warning') terminal.warn(message)
  }
}

function requireTool(deployment: Deployment, { cwd }: Project): DeployTool {
  const tool = findTool(deployment.tool, cwd)
  if (tool === undefined) throw new CliError(notInstalled(deployment))
  return tool
}

function notInstalled({ tool }: Deployment): string {
  return `${tool.name} is not installed: run ${tool.install}`
}

function notLoggedIn({ tool }: Deployment): string {
  return `you are not logged in to ${tool.name}: run ${tool.login}, or set ${tool.token}`
}

/** The command as it could be typed. Secrets appear by name only, and tokens are left out: the output may end up in a log. */
function shownStep(step: DeployStep, { tool }: Deployment, cwd: string): string {
  const token = process.env[tool.token]
  const words = step.args.map((word, at) => {
    const before = step.args[at - 1] ?? ''
    if (word === token || HIDDEN_OPTION.test(before)) return '…'
    if (VARIABLE_OPTION.test(before) && word.includes('=')) return '…'
    const [option = ''] = word.split('=', 1)
    const isHidden = HIDDEN_OPTION.test(option) || VARIABLE_OPTION.test(option)
    return option !== word && isHidden ? `${option}=…` : quoted(word)
  })
  const command = [quoted(step.command ?? tool.name), ...words].join(' ')
  const folder = relative(cwd, step.cwd)
  return [
    folder === '' ? '' : `cd ${quoted(folder)} && `,
    command,
    step.stdin === undefined ? '' : ' < (secrets, on stdin)',
  ].join('')
}
