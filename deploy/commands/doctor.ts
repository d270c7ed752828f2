/** `mayfly doctor`: finds what is missing, wrong, or degraded before a deployment. */

import { isA } from '../../src/definition/error-text.ts'
import { toJsonLine } from '../../src/definition/json-line.ts'
import { ownCode } from '../build/bundler.ts'
import type { Finding, Project, Target } from '../contract/target.ts'
import type { Description } from '../doctor/describe.ts'
import {
  authFindings,
  bindingFindings,
  cronSecretFindings,
  type Degradation,
  degradations,
  extensionFindings,
  publicUrlFindings,
  secretFindings,
  versionFindings,
} from '../doctor/findings.ts'
import { type DescribeOptions, describeServer, faultOf } from '../doctor/load.ts'
import { renderDoctor } from '../doctor/render.ts'
import { signInFindings } from '../doctor/sign-in.ts'
import { usedFeatures } from '../doctor/used.ts'
import { cronsOf } from '../project/cron.ts'
import { displayPath } from '../project/entry.ts'
import { makesTable } from '../project/project.ts'
import { findSecret } from '../project/secrets.ts'
import { findTarget } from '../targets/all.ts'
import { CliError } from '../terminal/cli-error.ts'
import type { Help } from '../terminal/help.ts'
import { withProgress } from '../terminal/progress.ts'
import { parseServerUrl } from '../terminal/server-address.ts'
import { columns, isColoured, WIDTH } from '../terminal/styles.ts'
import type { ProjectTarget } from './_choose-project.ts'
import { howToServe, projectCommandLine } from './_next.ts'
import { COMMON_HELP, eachTargetCommand, STAGE_HELP, STAGE_OPTION } from './_project-command.ts'

const HELP: Help = {
  usage: [
    'mayfly doctor [entry] [--target <name>]... [--stage <name>] [--url <url>] [--online] [--verbose] [--json] [--quiet]',
  ],
  options: [
    ...COMMON_HELP,
    STAGE_HELP,
    [
      '--url',
      'the URL of the deployed MCP endpoint, for the redirect URL of sign-in; default http.publicUrl',
    ],
    [
      '--online',
      'ask the identity provider that people sign in with whether it knows the client, its secret and the redirect URL',
    ],
    ['--verbose', 'tell everything that degrades, not only what the code of your server uses'],
    [
      '--json',
      'print { target, findings: [{ level, message }], degrades: [{ features, reason, remedy }] } as JSON; for several targets a list of these',
    ],
  ],
  text: [
    'Examines every target of the project, or those that are given: --target may be repeated.',
    'Ends with what to do next. Exit code 1 if something is wrong, 0 otherwise. Warnings and degraded features are not wrong.',
  ],
  examples: ['mayfly doctor --target lambda --verbose', 'mayfly doctor --stage staging'],
  page: 'degradation.md',
}

interface Report {
  readonly target: string
  readonly findings: readonly Finding[]
  readonly degrades: readonly Degradation[]
}

/** Throws `CliError` if there is no entry. */
export const doctor = eachTargetCommand({
  name: 'doctor',
  help: HELP,
  options: {
    ...STAGE_OPTION,
    url: { type: 'string' },
    online: { type: 'boolean' },
    json: { type: 'boolean' },
    verbose: { type: 'boolean' },
  },
  run: async (chosen, { json, verbose, online, url: given }) => {
    const [{ project }] = chosen
    const url = given === undefined ? undefined : parseServerUrl('doctor --url', [given]).href
    const { server, reports } = await withProgress(async (show) => {
      show(`loading ${displayPath(project.entry)}`)
      const server = await describeOrFail(project, online ? { url } : undefined)
      const reports: Report[] = []
      for (const [at, { targetName, target }] of chosen.entries()) {
        show(`examining ${target.title}`, `${at + 1} of ${chosen.length}`)
        reports.push(await examine(project, targetName, server, url))
      }
      return { server, reports }
    })
    const isWrong = reports.some(({ findings }) => findings.some(({ level }) => level === 'error'))
    if (json) {
      const [first] = reports
      process.stdout.write(`${toJsonLine(reports.length === 1 ? first! : reports)}\n`)
      return isWrong ? 1 : 0
    }
    const { info } = 'failure' in server ? {} : server
    const options = {
      used: verbose || info === undefined ? undefined : usedFeatures(await ownCode(project), info),
      isColoured: isColoured(),
      width: Math.min(columns(), process.stdout.isTTY === true ? WIDTH : Number.POSITIVE_INFINITY),
    }
    const examined = reports.map((report) => ({ ...report, title: findTarget(report.target).title }))
    process.stdout.write(`${renderDoctor(examined, options)}\n${next(chosen, isWrong)}`)
    return isWrong ? 1 : 0
  },
})

function next(chosen: readonly ProjectTarget[], isWrong: boolean): string {
  if (isWrong) return 'Next: mend what is marked "error", then run this again\n'
  const steps = chosen.map(afterDoctor)
  return steps.length === 1 ? `Next: ${steps[0]}\n` : `Next:\n${steps.map((step) => `  ${step}\n`).join('')}`
}

/** What follows when nothing is wrong. A deployment builds by itself. */
function afterDoctor({ project, targetName, target }: ProjectTarget): string {
  const build = target.isOwnMachine ? `${projectCommandLine('build', project, targetName)}, and ` : ''
  return build + howToServe(project, targetName)
}

/** The server, loaded once for all targets, or why it cannot be. */
async function describeOrFail(
  project: Project,
  asking: DescribeOptions['asking'],
): Promise<Description | { readonly failure: CliError }> {
  try {
    const description = await describeServer(project, { isDeployed: true, asking })
    return description.fault === undefined ? description : { failure: faultOf(project, description.fault) }
  } catch (error) {
    if (!isA(error, CliError)) throw error
    return { failure: error }
  }
}

async function examine(
  project: Project,
  targetName: string,
  server: Awaited<ReturnType<typeof describeOrFail>>,
  url: string | undefined,
): Promise<Report> {
  const target = findTarget(targetName)
  const limits = target.limits.map((message): Finding => ({ level: 'ok', message }))
  const findings = [
    ...versionFindings(),
    ...(await target.examine(project)),
    ...placeFindings(target, project),
    ...limits,
  ]
  const reportOf = (...more: Finding[]): Report => ({
    target: targetName,
    findings: [...findings, ...more],
    degrades: [],
  })
  if ('failure' in server) return reportOf({ level: 'error', message: server.failure.message })
  const { info, tools, asked, guarded, hasScheduled } = server
  if (info === undefined) {
    const message = 'the server was not written with Mayfly: doctor cannot tell what it needs'
    // The fetch of an app does not tell of its routes.
    const remedy = hasScheduled ? '; if it is in a Hono app, export { ...app, scheduled }' : ''
    return reportOf({ level: 'warning', message: message + remedy })
  }
  const hasSecret = info.hasSecret || findSecret(project, 'MAYFLY_SECRET') !== undefined
  const report = reportOf(
    { level: 'ok', message: `the server loads, with ${tools} ${tools === 1 ? 'tool' : 'tools'}` },
    ...secretFindings(project, info),
    ...cronSecretFindings(project, cronsOf(project)),
    ...bindingFindings(info, target, cronsOf(project), {
      makesEventTable: target.abilities.tasks === 'dynamodb' && makesTable(project, 'events'),
      triggers: hasScheduled ? target.triggers?.(project) : undefined,
    }),
    ...authFindings(info),
    ...extensionFindings(info),
    ...signInFindings(info, target, project, { url, asked, guarded }),
    ...publicUrlFindings(info, target),
  )
  return { ...report, degrades: degradations(info, hasSecret, target) }
}

/** Where the stage is. That of production is told by what `examine` finds. */
function placeFindings(target: Target, project: Project): Finding[] {
  const { stage } = project
  if (stage === undefined || target.place === undefined) return []
  try {
    const { kind, name, account, namedBy = 'its package', warnings = [] } = target.place(project, { stage })
    const where = account === undefined ? '' : ` in ${account}`
    return [
      { level: 'ok', message: `${stage} is the ${kind} ${name}${where}, named by ${namedBy}` },
      ...warnings.map((message): Finding => ({ level: 'warning', message })),
    ]
  } catch (error) {
    if (!isA(error, CliError)) throw error
    return [{ level: 'error', message: error.message }]
  }
}
