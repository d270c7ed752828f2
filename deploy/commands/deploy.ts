/** `mayfly deploy`: builds, checks, and uploads with the platform's own CLI. */

import { join, relative } from 'node:path'
import { isA } from '../../src/definition/error-text.ts'
import { needsRedirectUrl } from '../build/bundler.ts'
import { countVerdicts } from '../check/report.ts'
import type { Place } from '../contract/place.ts'
import type { Artefact, Deployment, DeployStep, Project, Target } from '../contract/target.ts'
import { redirectNote } from '../doctor/sign-in.ts'
import type { Secret } from '../project/env-file.ts'
import { refuseSameName } from '../project/project.ts'
import { readSecrets, sharedSecrets, sharedWith, unpublishable, unsentSecrets } from '../project/secrets.ts'
import { buildInto, buildWarnings, describeSize } from '../targets/build-into.ts'
import { type DeployTool, findTool, requireLogin } from '../targets/deploy-tool.ts'
import { redact } from '../targets/tool-output.ts'
import { CliError, printable, UsageError } from '../terminal/cli-error.ts'
import { parseMs } from '../terminal/command-line.ts'
import type { Help } from '../terminal/help.ts'
import { withProgress } from '../terminal/progress.ts'
import { parseVariable } from '../terminal/server-address.ts'
import { quoted } from '../terminal/shell-word.ts'
import { stylesFor } from '../terminal/styles.ts'
import { isSystemError } from '../terminal/system-error.ts'
import { terminal } from '../terminal/terminal.ts'
import type { ProjectTarget } from './_choose-project.ts'
import { type Checked, checkDeployed, findDeployedUrl, tellChecked } from './_deployed-url.ts'
import { howToAdd } from './_next.ts'
import { describePlace, readPlace, settlePlace } from './_place.ts'
import { COMMON_HELP, outFolder, projectCommand } from './_project-command.ts'
import { isOnTerminal, notInstalled, openTool, placeAsJson, runShown } from './_released-place.ts'

const HELP: Help = {
  usage: [
    'mayfly deploy [entry] [--target <name>] [--stage <name>] [--secret <NAME>]... [--preview] [--yes] [--dry-run] [--check | --no-check] [--check-bearer-env <NAME>] [--json] [--timeout <ms>] [--out <folder>] [--quiet] [-- <for the tool>...]',
  ],
  options: [
    ...COMMON_HELP,
    [
      '--stage',
      'deploy to a place of its own beside production, such as staging, with its own secrets and stores',
    ],
    [
      '--secret',
      "send this variable to the platform's secret store; its value comes from the environment, else .env or .dev.vars, for a stage first from .env.<stage>",
    ],
    [
      '--preview',
      'deploy to a separate URL and leave production unchanged (cloudflare, vercel, netlify, deno)',
    ],
    ['--yes', 'do not ask before something is changed'],
    [
      '--check',
      'print the whole report of mayfly check, and fail if steps were skipped because of a missing token',
    ],
    ['--no-check', 'do not check the deployed server'],
    [
      '--check-bearer-env',
      'the variable with a token for the check, of a server with auth; found as for --secret',
    ],
    ['--json', 'print one JSON document with the place, the URL and the result of the check'],
    ['--timeout', "milliseconds for each step of the platform's CLI; default 1800000 (30 minutes)"],
    ['--dry-run', 'do everything except the upload, and print the commands'],
    ['--out', 'where to build; default dist/<target>'],
    ['--', "pass everything after it to the platform's own CLI"],
  ],
  text: ["Prints the URL of the MCP endpoint on stdout, and the output of the platform's CLI on stderr."],
  examples: [
    'mayfly deploy --secret MAYFLY_SECRET',
    'mayfly deploy --stage staging --secret MAYFLY_SECRET',
    'mayfly deploy --target vercel --dry-run',
  ],
  page: 'deploy/README.md',
}

const DEFAULT_TIMEOUT_MS = 1_800_000
const MAX_TIMEOUT_MS = 86_400_000

/** Options of the tools whose value is a name or a place, not a variable or a token. */
const SHOWN_OPTION =
  /^--(?:app|config|context|cwd|env|org|name|profile|project-ref|region|scope|site|stack-name|target|team)$/

/** Exit code 0 if the server is deployed and answers, otherwise that of the tool or check that failed. Throws `CliError`. */
export async function deploy(args: string[]): Promise<number> {
  const progress: Progress = {}
  const command = projectCommand({
    name: 'deploy',
    help: HELP,
    options: {
      stage: { type: 'string' },
      secret: { type: 'string', multiple: true },
      'dry-run': { type: 'boolean' },
      preview: { type: 'boolean' },
      yes: { type: 'boolean' },
      check: { type: 'boolean' },
      'no-check': { type: 'boolean' },
      'check-bearer-env': { type: 'string' },
      json: { type: 'boolean' },
      timeout: { type: 'string' },
      out: { type: 'string' },
    },
    hasToolOptions: true,
    run: (chosen, values, extra) => deployProject(chosen, values, extra, progress),
  })
  try {
    return await command(args)
  } catch (error) {
    const dashes = args.indexOf('--')
    const isJson = (dashes < 0 ? args : args.slice(0, dashes)).includes('--json')
    // Also for a wrong command line: who reads JSON gets JSON.
    if (isJson && progress.isWritten !== true && (isA(error, CliError) || isSystemError(error)))
      writeJson(progress, { reason: error.message })
    throw error
  }
}

/** What is known of a deployment so far. */
interface Progress {
  chosen?: ProjectTarget
  place?: Place
  stage?: string
  isPreview?: boolean
  isWritten?: true
}

interface DeployValues {
  readonly stage?: string | undefined
  readonly secret?: readonly string[] | undefined
  readonly 'dry-run'?: boolean | undefined
  readonly preview?: boolean | undefined
  readonly yes?: boolean | undefined
  readonly check?: boolean | undefined
  readonly 'no-check'?: boolean | undefined
  readonly 'check-bearer-env'?: string | undefined
  readonly json?: boolean | undefined
  readonly timeout?: string | undefined
  readonly out?: string | undefined
}

async function deployProject(
  chosen: ProjectTarget,
  values: DeployValues,
  extra: readonly string[],
  progress: Progress,
): Promise<number> {
  const { project, target } = chosen
  const { cwd, stage } = project
  const { preview: isPreview = false } = values
  Object.assign(progress, { chosen, isPreview })
  refuseContradictions({ ...values, stage })
  const timeoutMs =
    values.timeout === undefined ? DEFAULT_TIMEOUT_MS : parseMs('timeout', values.timeout, MAX_TIMEOUT_MS)
  if (isPreview && !target.hasPreviews) {
    throw new UsageError(
      `${target.title} has no previews: deploy a stage, as in --stage staging, and test there`,
    )
  }
  progress.stage = stage ?? 'production'
  refuseSameName(project)
  const place = target.place?.(project, { stage, extra })
  if (place !== undefined) {
    progress.place = place
    readPlace(place, { isAsked: values.yes !== true })
  }
  const secrets = readSecrets(project, values.secret ?? [], stage)
  for (const name of sharedSecrets(project, [...secrets.keys()], stage))
    terminal.warn(sharedWith(name, stage))
  const bearer = checkBearer(project, values['check-bearer-env'], stage)
  const outDir = outFolder(chosen, values.out)

  const artefact = await buildInto(target, project, outDir, { secrets })
  terminal.note(`built ${relative(cwd, join(outDir, artefact.main))}: ${describeSize(artefact.size)}`)
  const warned = await refuseUndeployable(target, project, artefact)
  const tried = await withProgress(async (show) => {
    show('trying out what was built')
    return (await target.tryOut?.(outDir, artefact, project)) ?? []
  })
  for (const line of tried) terminal.note(line)

  const deployment = target.deployment(outDir, project, { secrets, extra, isPreview, stage })
  for (const name of unsentSecrets(project, secrets, stage)) {
    terminal.warn(`${name} is not uploaded: pass --secret ${name} to send it to ${target.title}`)
  }
  for (const note of deployment.notes ?? []) terminal.note(note)
  if (place === undefined) throw new CliError(`${target.title} has no place to deploy to`)
  if (values['dry-run']) {
    terminal.note(describePlace(place, isPreview))
    if (place.namedBy === undefined && values.yes !== true && !isOnTerminal())
      terminal.warn(
        `without a terminal, deploy refuses a place that nothing names: ${place.claim}${place.hasLinks ? '' : ', or pass --yes'}`,
      )
    return dryRun(deployment, project, unpublishable(project, secrets), extra, warned)
  }
  const tool = await openTool(deployment.tool, project, { withinMs: timeoutMs })
  const consent = { isAsked: values.yes !== true, isPreview, withinMs: timeoutMs }
  const create = await settlePlace(place, tool, consent)
  const hidden = [...secrets.values(), ...(bearer === undefined ? [] : [bearer])]
  const steps = [...(create === undefined ? [] : [create]), ...deployment.steps]
  const { told, failure } = await runSteps(steps, tool, { hidden, withinMs: timeoutMs })
  const outcome: Outcome = { progress, values, bearer, deployment }
  if (failure !== undefined) return end(outcome, failure)
  const url = await findDeployedUrl(deployment, told, tool, hidden)
  return end(outcome, url === undefined ? NO_URL : { url: redact(url, hidden) })
}

/** Throws `UsageError`. */
function refuseContradictions(values: DeployValues): void {
  const pairs = [
    ['stage', 'preview'],
    ['check', 'no-check'],
    ['check-bearer-env', 'no-check'],
    ['json', 'dry-run'],
  ] as const
  const pair = pairs.find((names) => names.every((name) => values[name]))
  if (pair !== undefined)
    throw new UsageError(`--${pair[0]} and --${pair[1]} contradict each other: pass one of them`)
}

/** The token for the check. Throws `CliError` if the variable has no value. */
function checkBearer(
  project: Project,
  given: string | undefined,
  stage: string | undefined,
): string | undefined {
  if (given === undefined) return undefined
  const name = parseVariable('--check-bearer-env', given)
  return readSecrets(project, [name], stage).get(name)
}

interface Failure {
  readonly reason: string
  readonly exitCode: number
}

/** In order. Ends with the first that fails, hangs, or prints an error and ends as if nothing had happened. */
async function runSteps(
  steps: readonly DeployStep[],
  tool: DeployTool,
  options: { readonly hidden: readonly string[]; readonly withinMs: number },
): Promise<{ told: string; failure?: Failure }> {
  let told = ''
  for (const step of steps) {
    const ran = await runShown(step, steps, tool, options)
    const { code, complaint, isHung = false } = ran
    if (isHung) {
      const reason = `${step.title} did not end within ${options.withinMs / 1000} s and was stopped: it may have changed a part; see the output above, or pass a longer --timeout`
      return { told, failure: { reason, exitCode: 1 } }
    }
    if (code !== 0) {
      const reason = `${step.title} failed with exit code ${code}: see the output above`
      return { told, failure: { reason, exitCode: code } }
    }
    if (complaint !== undefined) {
      const reason = `${step.title} ended with exit code 0, but printed an error, so it is not known to be deployed: ${printable(complaint.slice(0, 200))}`
      return { told, failure: { reason, exitCode: 1 } }
    }
    told = ran.told
  }
  return { told }
}

/** Without a URL nothing shows that anything is deployed. */
const NO_URL: Failure = {
  reason:
    "the platform's tool ended without an error but did not print the URL, so it is not known to be deployed: see its output above, then run mayfly check <url>",
  exitCode: 1,
}

interface Outcome {
  readonly progress: Progress
  readonly values: DeployValues
  readonly bearer: string | undefined
  readonly deployment: Deployment
}

/** Prints the server's URL, checks it, and returns the exit code. */
async function end(outcome: Outcome, result: Failure | { readonly url: string }): Promise<number> {
  const { progress, values, deployment, bearer } = outcome
  const isJson = values.json === true
  if ('reason' in result) {
    terminal.warn(result.reason)
    if (isJson) writeJson(progress, { reason: result.reason })
    return result.exitCode
  }
  const { url } = result
  if (!isJson) process.stdout.write(`deployed ${printable(url)}\n`)
  const { chosen, isPreview } = progress
  if (chosen !== undefined && isPreview !== true && (await needsRedirectUrl(chosen.project)))
    terminal.note(redirectNote(url))
  if (values['no-check']) {
    if (isJson) writeJson(progress, { url })
    else terminal.next(`npx mayfly-mcp check ${quoted(url)}`)
    return 0
  }
  const checked = await checkDeployed({ url, headers: deployment.endpoint?.headers, bearer })
  if (isJson) writeJson(progress, { url, checked })
  const isStrict = values.check === true
  const code = tellChecked(checked, url, { isStrict, isFull: isStrict && !isJson })
  // A failure has said what to do.
  if (code === 0 && !isJson) terminal.next(howToAdd(url))
  return code
}

interface Written {
  readonly url?: string
  readonly reason?: string
  readonly checked?: Checked
}

/** One document on stdout. Its shape is documented in docs/cli.md; members may be added. What is not known is null. */
function writeJson(progress: Progress, { url, reason, checked }: Written): void {
  const { chosen, place, stage, isPreview = null } = progress
  progress.isWritten = true
  const check =
    checked === undefined ? null : 'failure' in checked ? { failure: checked.failure } : seen(checked)
  const document = {
    deployed: url !== undefined,
    ...(reason !== undefined && { reason }),
    project: chosen?.project.name ?? null,
    isPreview,
    ...(place === undefined
      ? { target: chosen?.targetName ?? null, stage: stage ?? null, place: null }
      : placeAsJson(place, chosen?.targetName ?? '')),
    url: url ?? null,
    check,
  }
  process.stdout.write(`${JSON.stringify(document, null, 2)}\n`)
}

function seen({ report, isLocked }: Extract<Checked, { report: unknown }>): object {
  const problems = report.results.filter(({ verdict }) => verdict === 'wrong' || verdict === 'degrades')
  return { summary: countVerdicts(report), isLocked, problems }
}

async function dryRun(
  deployment: Deployment,
  project: Project,
  secrets: readonly Secret[],
  extra: readonly string[],
  warned: readonly string[],
): Promise<number> {
  const tool = findTool(deployment.tool, project.cwd)
  if (tool === undefined) {
    const isSaid = warned.some((line) => line.startsWith(`${deployment.tool.name} is not installed`))
    if (!isSaid) terminal.warn(notInstalled(deployment.tool))
  } else {
    await requireLogin(tool, deployment, project.cwd).catch((error: unknown) => {
      if (!isA(error, CliError)) throw error
      terminal.warn(error.message)
    })
  }
  const hidden = [...secrets.map(({ value }) => value), process.env[deployment.tool.token] ?? '']
  const { dim } = stylesFor()
  const width = String(deployment.steps.length).length
  for (const [at, step] of deployment.steps.entries()) {
    const command = printable(shownStep(step, deployment, project.cwd, hidden, extra))
    const title = `${String(at + 1).padStart(width)}  ${printable(step.title)}`
    process.stdout.write(`${title}\n${' '.repeat(width + 2)}${dim(command)}\n`)
  }
  terminal.next('the same without --dry-run, which uploads')
  return 0
}

/**
 * Returns what it warned of. Throws for errors that `mayfly doctor` finds. Size limits only warn, since the platform may have raised them.
 */
async function refuseUndeployable(target: Target, project: Project, artefact: Artefact): Promise<string[]> {
  const warnings = await buildWarnings(artefact, target, project)
  for (const { level, message } of await target.examine(project)) {
    if (level === 'error') throw new CliError(message)
    if (level === 'warning') warnings.push(message)
  }
  const lines = [...new Set(warnings)]
  for (const line of lines) terminal.warn(line)
  return lines
}

/** The command as a user would type it. Shows secrets by name only and omits tokens, since the output may end up in a log. */
function shownStep(
  step: DeployStep,
  { tool }: Deployment,
  cwd: string,
  hidden: readonly string[],
  extra: readonly string[],
): string {
  const words = step.args.map((word, at) => {
    if (hidden.some((value) => value !== '' && word.includes(value))) return '…'
    return isGiven(word, extra) ? shownGiven(word, step.args[at - 1] ?? '') : quoted(word)
  })
  const command = [quoted(step.command ?? tool.name), ...words].join(' ')
  const folder = relative(cwd, step.cwd)
  return [
    folder === '' ? '' : `cd ${quoted(folder)} && `,
    command,
    step.stdin === undefined ? '' : ' < (secrets, on stdin)',
  ].join('')
}

/** Whether a word of a command comes from after `--`, as written there or as the value of `--option=value`. */
function isGiven(word: string, extra: readonly string[]): boolean {
  return extra.some((one) => one === word || (one.startsWith('-') && one.endsWith(`=${word}`)))
}

/** The tools have many spellings for a value that grants access, so only what is known to be a name or a place is shown. */
function shownGiven(word: string, before: string): string {
  if (!word.startsWith('-')) return SHOWN_OPTION.test(before) && !/[=:]/.test(word) ? quoted(word) : '…'
  const [, option = '', value = ''] = /^(--[^=]*|-[^-])(.*)$/s.exec(word) ?? []
  if (value === '') return quoted(word)
  const isShown = SHOWN_OPTION.test(option) && !/[=:]/.test(value.slice(1))
  return isShown ? quoted(word) : `${quoted(option)}${value.startsWith('=') ? '=' : ''}…`
}
