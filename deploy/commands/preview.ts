/** `mayfly preview`: builds, then runs that build on the platform's own runtime. */

import type { Project, RunningTarget, Target } from '../contract/target.ts'
import { cronsOf } from '../project/cron.ts'
import { loadEnvFiles } from '../project/env-files.ts'
import { stageOption } from '../project/stages.ts'
import { startLaunch } from '../run/launch.ts'
import { freePort } from '../run/port.ts'
import { untilAnswers } from '../run/probe.ts'
import { buildInto } from '../targets/build-into.ts'
import type { Help } from '../terminal/help.ts'
import { terminal } from '../terminal/terminal.ts'
import { projectCommandLine } from './_next.ts'
import {
  COMMON_HELP,
  LOCAL_STAGE_HELP,
  outFolder,
  projectCommand,
  SERVING_HELP,
  SERVING_OPTIONS,
  STAGE_OPTION,
  whereToServe,
} from './_project-command.ts'
import { serveUntilInterrupted } from './_serve-until-interrupted.ts'

const HELP: Help = {
  usage: [
    'mayfly preview [entry] [--target <name>] [--stage <name>] [--port <n>] [--path <path>] [--out <folder>] [--quiet]',
  ],
  options: [
    ...COMMON_HELP,
    ...SERVING_HELP,
    LOCAL_STAGE_HELP,
    ['--out', 'where to build; default dist/<target>'],
  ],
  text: [
    'Builds like mayfly build and runs the result, without reloading. Prints "ready <url>" on stdout once it answers.',
  ],
  examples: ['mayfly preview --target lambda'],
  page: 'cli.md',
}

/** Runs until a signal ends it (exit code 0). Throws `CliError`. */
export const preview = projectCommand({
  name: 'preview',
  help: HELP,
  options: { ...SERVING_OPTIONS, ...STAGE_OPTION, out: { type: 'string' } },
  run: async (chosen, values) => {
    const { project, target, targetName } = chosen
    const where = await whereToServe(values, target)
    const outDir = outFolder(chosen, values.out)
    await buildInto(target, project, outDir)
    loadEnvFiles(project)
    // Invalid ones end it now.
    const crons = cronsOf(project)
    return serveUntilInterrupted({
      // For 0 only now, since the build took a while.
      start: async () =>
        startPreview(target, project, outDir, { ...where, port: await freePort(where.port) }),
      hint: target.isOwnMachine
        ? 'Ctrl+C stops it.'
        : `Ctrl+C stops it. Next: ${projectCommandLine('deploy', project, targetName)}${stageOption(project.stage)}`,
      crons: () => crons,
      hasOwnPath: where.path !== undefined,
    })
  },
})

export interface PreviewRun {
  readonly port: number
  /** Path of the MCP endpoint. Default: the platform's, usually `/mcp`. */
  readonly path?: string | undefined
  /** The file descriptor for what it prints. Default stderr. */
  readonly output?: number
}

/** Runs the build in `outDir`. */
export function startPreview(
  target: Pick<Target, 'preview'>,
  project: Project,
  outDir: string,
  { port, path: given, output = 2 }: PreviewRun,
): RunningTarget {
  const launch = target.preview(outDir, { port, project })
  if (launch.note !== undefined) terminal.note(launch.note)
  const path = given ?? launch.path ?? '/mcp'
  const running = startLaunch(launch, { project, port, output })
  const ended = new AbortController()
  const answers = untilAnswers(`http://127.0.0.1:${port}${path}`, ended.signal)
  return {
    port,
    path,
    ready: Promise.race([answers, running.failed]).finally(() => ended.abort()),
    exited: running.exited,
    stop: async () => {
      ended.abort()
      await running.stop()
    },
  }
}
