/** `mayfly doctor`: finds what is missing, wrong, or degraded before a deployment. */

import { relative } from 'node:path'
import { isA } from '../../src/definition/error-text.ts'
import { toJsonLine } from '../../src/definition/json-line.ts'
import type { Finding, Project, Target } from '../contract/target.ts'
import {
  authFindings,
  bindingFindings,
  cronSecretFindings,
  type Degradation,
  degradations,
  publicUrlFindings,
  secretFindings,
  versionFindings,
} from '../doctor/findings.ts'
import { describeServer, faultOf } from '../doctor/load.ts'
import { cronOf } from '../project/cron.ts'
import { defaultEntry } from '../project/entry.ts'
import { findSecret, unsentSecrets } from '../project/secrets.ts'
import { stageOption } from '../project/stages.ts'
import { findTarget } from '../targets/all.ts'
import { CliError, printable, printableLines } from '../terminal/cli-error.ts'
import type { Help } from '../terminal/help.ts'
import { quoted } from '../terminal/shell-word.ts'
import { stylesFor } from '../terminal/styles.ts'
import { COMMON_HELP, projectCommand, STAGE_HELP, STAGE_OPTION } from './_project-command.ts'

const HELP: Help = {
  usage: ['mayfly doctor [entry] [--target <name>] [--stage <name>] [--json] [--quiet]'],
  options: [
    ...COMMON_HELP,
    STAGE_HELP,
    [
      '--json',
      'print { target, findings: [{ level, message }], degrades: [{ features, reason, remedy }] } as JSON',
    ],
  ],
  text: [
    'Ends with what to do next. Exit code 1 if something is wrong, 0 otherwise. Warnings and degraded features are not wrong.',
  ],
  examples: ['mayfly doctor --target lambda', 'mayfly doctor --stage staging'],
  page: 'degradation.md',
}

interface Report {
  readonly target: string
  readonly findings: readonly Finding[]
  readonly degrades: readonly Degradation[]
}

/** Throws `CliError` if there is no entry. */
export const doctor = projectCommand({
  name: 'doctor',
  help: HELP,
  options: { ...STAGE_OPTION, json: { type: 'boolean' } },
  run: async ({ project, targetName }, { json }) => {
    const report = await examine(project, targetName)
    const isWrong = report.findings.some(({ level }) => level === 'error')
    const next = isWrong
      ? 'mend what is marked "error", then run this again'
      : afterDoctor(project, targetName)
    process.stdout.write(json ? `${toJsonLine(report)}\n` : `${render(report)}\nNext: ${next}\n`)
    return isWrong ? 1 : 0
  },
})

/** What follows when nothing is wrong, to be typed as it is. */
function afterDoctor(project: Project, targetName: string): string {
  const entry =
    project.entry === defaultEntry(project.cwd) ? '' : ` ${quoted(relative(project.cwd, project.entry))}`
  const what = `${entry} --target ${targetName}`
  if (findTarget(targetName).isOwnMachine)
    return printable(
      `npx mayfly build${what}, and npx mayfly preview${what}${stageOption(project.stage)} to try the result`,
    )
  const secrets = unsentSecrets(project, new Map()).map((name) => ` --secret ${name}`)
  return printable(`npx mayfly deploy${what}${stageOption(project.stage)}${secrets.join('')}`)
}

async function examine(project: Project, targetName: string): Promise<Report> {
  const target = findTarget(targetName)
  const limits = target.limits.map((message): Finding => ({ level: 'ok', message }))
  const place = placeFindings(target, project)
  const findings = [...versionFindings(), ...(await target.examine(project)), ...place, ...limits]
  try {
    const { info, tools, fault } = await describeServer(project, { isDeployed: true })
    if (fault !== undefined) throw faultOf(project, fault)
    if (info === undefined) {
      const message = 'the server was not written with Mayfly: doctor cannot tell what it needs'
      return { target: targetName, findings: [...findings, { level: 'warning', message }], degrades: [] }
    }
    const hasSecret = info.hasSecret || findSecret(project, 'MAYFLY_SECRET') !== undefined
    return {
      target: targetName,
      findings: [
        ...findings,
        { level: 'ok', message: `the server loads, with ${tools} ${tools === 1 ? 'tool' : 'tools'}` },
        ...secretFindings(project, info),
        ...cronSecretFindings(project, cronOf(project)),
        ...bindingFindings(info, target, cronOf(project)),
        ...authFindings(info),
        ...publicUrlFindings(info, target),
      ],
      degrades: degradations(info, hasSecret, target),
    }
  } catch (error) {
    if (!isA(error, CliError)) throw error
    return {
      target: targetName,
      findings: [...findings, { level: 'error', message: error.message }],
      degrades: [],
    }
  }
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

const MARKS = { ok: 'ok      ', warning: 'warning ', error: 'error   ' } as const
const MEANINGS = { ok: 'ok', warning: 'warning', error: 'failure' } as const

function render({ target, findings, degrades }: Report): string {
  const styles = stylesFor()
  const found = findings.map(
    ({ level, message }) =>
      `  ${styles[MEANINGS[level]](MARKS[level])}${printableLines(message).replaceAll('\n', '\n          ')}`,
  )
  const lost = degrades.map(
    ({ features, reason, remedy }) =>
      `  ${styles.heading(features.join(', '))}\n    ${printable(`${reason} ${remedy}`)}`,
  )
  return `${findTarget(target).title}\n${found.join('\n')}\n${
    lost.length === 0 ? '' : `\nWhat degrades, and is not advertised\n${lost.join('\n')}\n`
  }`
}
