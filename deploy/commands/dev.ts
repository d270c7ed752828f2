/**
 * `mayfly dev`: serves an entry locally on a platform's own runtime.
 *
 * stdout carries exactly one line, `ready <url>`, once the server answers MCP; everything else is on stderr. Where both are a terminal, the
 * screen on stderr says it.
 */

import type { SignInFacts } from '../../src/auth/auth.ts'
import type { Guarded } from '../doctor/describe.ts'
import { describeServer, refuseFaulty } from '../doctor/load.ts'
import { scopeFindings } from '../doctor/sign-in.ts'
import { createErrorLog } from '../playground/error-log.ts'
import { type FrontOptions, startPlaygroundFront } from '../playground/front.ts'
import { cronsOf } from '../project/cron.ts'
import { loadEnvFiles } from '../project/env-files.ts'
import { findInspector, startInspector } from '../run/inspector.ts'
import { DEVELOPED } from '../run/local-variables.ts'
import { openInBrowser } from '../run/open-browser.ts'
import { UsageError } from '../terminal/cli-error.ts'
import type { Help } from '../terminal/help.ts'
import { terminal } from '../terminal/terminal.ts'
import {
  COMMON_HELP,
  LOCAL_STAGE_HELP,
  projectCommand,
  SERVING_HELP,
  SERVING_OPTIONS,
  STAGE_OPTION,
  whereToServe,
} from './_project-command.ts'
import { baseOf, serveUntilInterrupted, signInLine } from './_serve-until-interrupted.ts'

const HELP: Help = {
  usage: [
    'mayfly dev [entry] [--target <name>] [--stage <name>] [--port <n>] [--path <path>] [--open | --inspector] [--no-playground] [--quiet]',
  ],
  options: [
    ...COMMON_HELP,
    ...SERVING_HELP,
    LOCAL_STAGE_HELP,
    [
      '--open',
      'on a terminal, open the playground in the browser: a page that tries every tool, resource and prompt',
    ],
    ['--inspector', "start the project's own @modelcontextprotocol/inspector, connected"],
    ['--no-playground', "do not serve the playground; the platform's own process listens on the port"],
  ],
  text: [
    'Runs on the platform\'s own runtime and reloads on change. Prints "ready <url>" on stdout once the server answers, unless stdout is a terminal; everything else goes to stderr. On a terminal a request is one short line, elsewhere one of JSON.',
  ],
  examples: ['mayfly dev', 'mayfly dev --open', 'mayfly dev src/server.ts --target deno --port 0'],
  page: 'cli.md',
}

/** Runs until a signal ends it (exit code 0) or the server stops by itself. Throws `CliError`. */
export const dev = projectCommand({
  name: 'dev',
  help: HELP,
  options: {
    ...SERVING_OPTIONS,
    ...STAGE_OPTION,
    open: { type: 'boolean' },
    inspector: { type: 'boolean' },
    'no-playground': { type: 'boolean' },
  },
  run: async ({ project, target }, values) => {
    const { entry, cwd } = project
    const isPlain = values['no-playground'] === true
    if (isPlain && values.open) throw new UsageError('--open opens the playground: remove --no-playground')
    const inspector = values.inspector ? findInspector(cwd) : undefined
    const { port, path } = await whereToServe(values, target)
    loadEnvFiles(project)
    const crons = cronsOf(project)
    // Of several, the one that says so: the page lets its user type another.
    const tasksCron = crons.find(({ path: one }) => one.includes('task')) ?? crons[0]
    const tasks = (endpointPath: string): Pick<FrontOptions, 'tasksPath' | 'tasksSecret'> => ({
      tasksPath: tasksCron && baseOf(endpointPath, path !== undefined) + tasksCron.path,
      tasksSecret: process.env.MAYFLY_TASKS_SECRET,
    })
    let tools: number | undefined
    let signIn: SignInFacts | undefined
    const scopeHints = createScopeHints()
    /** Says what a change has done to sign-in, such as variables that are set now. */
    const lookAgain = async (): Promise<void> => {
      if (signIn === undefined) return
      const before = signInLine(signIn)
      const { info, guarded } = await describeServer(project, { variables: DEVELOPED })
      if (info?.signIn === undefined) return
      signIn = info.signIn
      const line = signInLine(signIn)
      if (line !== before) terminal.note(line)
      scopeHints.say(signIn, guarded)
    }
    const errors = createErrorLog()
    return serveUntilInterrupted({
      start: (onChange) =>
        target.start({
          entry,
          cwd,
          stage: project.stage,
          port: isPlain ? port : 0,
          path,
          tools,
          ...onChange,
          onServerError: errors.add,
        }),
      ...(!isPlain && {
        startFront: (innerPort, endpointPath) =>
          startPlaygroundFront({ port, innerPort, endpointPath, errors, ...tasks(endpointPath) }),
      }),
      onReady: ({ endpoint, playground }) => {
        if (inspector !== undefined) return startInspector(inspector, endpoint)
        if (values.open && playground !== undefined) openInBrowser(playground)
        return undefined
      },
      signIn: () => signIn,
      // A server that cannot be described has been reported.
      onReload: () => void lookAgain().catch(() => {}),
      hint: 'A change of the code reloads it. Ctrl+C stops it.',
      crons: () => cronsOf(project),
      hasOwnPath: path !== undefined,
      check: async () => {
        const startsWith = target.hasOwnVariables ? 'others, too' : 'the variables of this machine'
        const { info, ...known } = await refuseFaulty(project, { startsWith })
        tools = known.tools
        signIn = info?.signIn
        if (signIn !== undefined) scopeHints.say(signIn, known.guarded)
      },
    })
  },
})

/** Each hint once, for as long as it applies. */
function createScopeHints(): { say(facts: SignInFacts, guarded: readonly Guarded[] | undefined): void } {
  let said: readonly string[] = []
  return {
    say(facts, guarded) {
      const hints = scopeFindings(facts, guarded).map(({ message }) => message)
      for (const hint of hints) if (!said.includes(hint)) terminal.warn(hint)
      said = hints
    },
  }
}
