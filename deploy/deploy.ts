/** `mayfly deploy`: builds, checks, and lets the platform's own tool upload. */
import { join, relative, resolve } from 'node:path'
import { buildInto, describeSize, sizeWarnings } from './build.ts'
import { CliError } from './cli-error.ts'
import { oneEntry, parseCommandLine } from './command-line.ts'
import { type DeployTool, findTool, isLoggedIn, runStep } from './deploy-tool.ts'
import { readProject } from './project.ts'
import { readSecrets, unsentSecrets } from './secrets.ts'
import type { Artefact, Deployment, DeployStep, Project, Target } from './target.ts'
import { defaultTarget, findTarget, targetNames } from './targets.ts'

const HELP = `mayfly deploy [entry] [--target <name>] [--secret <NAME>]... [--dry-run] [--out <folder>] [-- <for the tool>...]

  entry      the file whose default export is the server; default src/server.ts, server.ts or src/index.ts
  --target   ${targetNames}; default cloudflare beside a wrangler configuration, else node
  --secret   hand this variable to the platform's secret store; its value comes from the environment, else .env or .dev.vars
  --dry-run  do all but the upload, and print what would be run
  --out      where to build; default dist/<target>
  --         everything after it goes to the platform's own tool

  mayfly deploy --secret MAYFLY_SECRET
  mayfly deploy --target vercel --dry-run
`

/** Options of the tools whose value lets somebody in. */
const HIDDEN_OPTION = /^--?[\w-]*(?:token|auth|password|secret|key)$/i

/** Exit code 0 when everything is deployed, else that of the tool that failed. Throws `CliError`. */
export async function deploy(args: string[]): Promise<number> {
  const dashes = args.indexOf('--')
  const extra = dashes < 0 ? [] : args.slice(dashes + 1)
  const { values, positionals } = parseCommandLine('deploy', dashes < 0 ? args : args.slice(0, dashes), {
    target: { type: 'string' },
    secret: { type: 'string', multiple: true },
    'dry-run': { type: 'boolean' },
    out: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  })
  if (values.help) {
    process.stdout.write(HELP)
    return 0
  }
  const cwd = process.cwd()
  const project = readProject(cwd, oneEntry(positionals))
  const targetName = values.target ?? defaultTarget(cwd)
  const target = findTarget(targetName)
  const secrets = readSecrets(project, values.secret ?? [])
  const outDir = resolve(cwd, values.out ?? join('dist', targetName))

  const artefact = await buildInto(target, project, outDir, { secrets })
  say(`built ${relative(cwd, join(outDir, artefact.main))}: ${describeSize(artefact.size)}`)
  await refuseUndeployable(target, project, artefact)
  for (const name of unsentSecrets(project, secrets)) {
    say(`${name} stays here: pass --secret ${name} to hand it to ${target.title}`)
  }

  const deployment = target.deployment(outDir, project, { secrets, extra })
  if (values['dry-run']) return dryRun(deployment, project)
  const tool = requireTool(deployment, project)
  if (!(await isLoggedIn(tool, deployment, cwd))) throw new CliError(notLoggedIn(deployment))
  for (const step of deployment.steps) {
    say(step.title)
    const code = await runStep(step, tool)
    if (code !== 0) {
      say(`${step.title} failed with exit code ${code}: see the output above`)
      return code
    }
  }
  return 0
}

async function dryRun(deployment: Deployment, project: Project): Promise<number> {
  const tool = findTool(deployment.tool, project.cwd)
  if (tool === undefined) say(notInstalled(deployment))
  else if (!(await isLoggedIn(tool, deployment, project.cwd))) say(notLoggedIn(deployment))
  for (const step of deployment.steps) process.stdout.write(`${shownStep(step, deployment, project.cwd)}\n`)
  return 0
}

/** Platform's errors of `mayfly doctor`, and an artefact that the platform would refuse. */
async function refuseUndeployable(target: Target, project: Project, artefact: Artefact): Promise<void> {
  for (const line of sizeWarnings(artefact, target)) say(line)
  for (const { level, message } of await target.examine(project)) {
    if (level === 'error') throw new CliError(message)
    if (level === 'warning') say(message)
  }
  const { limits, size } = artefact
  if (limits.length > 0 && limits.every(({ of, bytes }) => size[of] > bytes)) {
    throw new CliError(`${target.title} would refuse ${artefact.main}: it is over every limit named above`)
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
  return `nobody is logged in to ${tool.name}: run ${tool.login}, or set ${tool.token}`
}

/** As it could be typed; secrets are only named, and tokens left out: what is printed may end in a log. */
function shownStep(step: DeployStep, { tool }: Deployment, cwd: string): string {
  const token = process.env[tool.token]
  const words = step.args.map((word, at) => {
    if (word === token || HIDDEN_OPTION.test(step.args[at - 1] ?? '')) return '…'
    const [option = ''] = word.split('=', 1)
    return option !== word && HIDDEN_OPTION.test(option) ? `${option}=…` : quoted(word)
  })
  const command = [quoted(step.command ?? tool.name), ...words].join(' ')
  const folder = relative(cwd, step.cwd)
  return [
    folder === '' ? '' : `cd ${quoted(folder)} && `,
    command,
    step.stdin === undefined ? '' : ' < (secrets, on stdin)',
  ].join('')
}

/** For a POSIX shell. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

/** stdout carries what a dry run would run; all the rest is on stderr. */
function say(line: string): void {
  process.stderr.write(`mayfly: ${line}\n`)
}
