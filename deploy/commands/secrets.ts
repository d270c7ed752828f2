/** `mayfly secrets`: the names and ages of a deployed server's secrets, and their change, with the platform's own CLI. */

import { toJsonLine } from '../../src/definition/json-line.ts'
import { createTempFolder } from '../build/work-folder.ts'
import type { Place } from '../contract/place.ts'
import type { StoredSecret } from '../contract/secret-store.ts'
import { readSecrets, refuseNames, sharedSecrets, sharedWith } from '../project/secrets.ts'
import { chooseStage, stageOption } from '../project/stages.ts'
import { targetNames } from '../targets/all.ts'
import { lookUp } from '../targets/deploy-tool.ts'
import { CliError, printable, UsageError } from '../terminal/cli-error.ts'
import { oneTarget, orMeant, parseCommand } from '../terminal/command-line.ts'
import type { Help } from '../terminal/help.ts'
import { terminal } from '../terminal/terminal.ts'
import { chooseProject, type ProjectTarget } from './_choose-project.ts'
import { STAGE_HELP } from './_project-command.ts'
import {
  openTool,
  placeAsJson,
  refuseDoubtful,
  requirePlatform,
  runAll,
  showPlace,
  stateOf,
} from './_released-place.ts'

const HELP: Help = {
  usage: [
    ['mayfly secrets list [--json]', 'their names, and when each was last written'],
    [
      'mayfly secrets set <NAME>...',
      'store these variables; their values come from the environment, else a file such as .env',
    ],
    ['mayfly secrets remove <NAME>...', 'remove them from the platform'],
  ],
  options: [
    ['--target', `${targetNames}; default: what package.json says, or the platform's own files`],
    STAGE_HELP,
    [
      '--entry',
      'the file whose default export is the server; default src/server.ts, server.ts or src/index.ts',
    ],
    ['--json', 'print JSON'],
    ['--quiet', 'print only the result, warnings and errors'],
    ['--', "pass everything after it to the platform's own CLI"],
  ],
  text: ['Never prints a value. Exit codes: 0 done, 1 refused or not reached, 2 invalid command line.'],
  examples: ['mayfly secrets set MAYFLY_SECRET --stage staging'],
  page: 'cli.md',
}

const ACTIONS = ['list', 'set', 'remove'] as const

type Action = (typeof ACTIONS)[number]

/** Throws `CliError`. */
export async function secrets(args: string[]): Promise<number> {
  const dashes = args.indexOf('--')
  const line = parseCommand('secrets', HELP, dashes < 0 ? args : args.slice(0, dashes), {
    target: { type: 'string', multiple: true },
    stage: { type: 'string' },
    entry: { type: 'string' },
    json: { type: 'boolean' },
    quiet: { type: 'boolean' },
  })
  if (line === undefined) return 0
  const { values, positionals } = line
  if (values.quiet) terminal.beQuiet()
  const [action, names] = parseAction(positionals)
  const stage = chooseStage(values.stage)
  const targetName = oneTarget(values.target)
  const chosen = chooseProject(values.entry === undefined ? [] : [values.entry], targetName, stage)
  const { folder, dispose } = createTempFolder()
  try {
    const extra = dashes < 0 ? [] : args.slice(dashes + 1)
    return await work(chosen, { action, names, stage, extra, folder, isJson: values.json === true })
  } finally {
    dispose()
  }
}

function parseAction([action = '', ...names]: readonly string[]): [Action, readonly string[]] {
  const known = ACTIONS.find((one) => one === action)
  if (known === undefined) {
    const given = action === '' ? 'no action is given' : `"${printable(action)}" is not an action`
    throw new UsageError(
      `${given}: ${orMeant(action, ACTIONS, 'pass list, set or remove, as in mayfly secrets list')}`,
    )
  }
  if (known === 'list' && names.length > 0)
    throw new UsageError(`list takes no names: got ${printable(names.join(', '))}`)
  if (known !== 'list' && names.length === 0)
    throw new UsageError(`no name is given: pass one, as in mayfly secrets ${known} MAYFLY_SECRET`)
  refuseNames(names)
  return [known, [...new Set(names)]]
}

interface Asked {
  readonly action: Action
  readonly names: readonly string[]
  readonly stage: string | undefined
  readonly extra: readonly string[]
  readonly folder: string
  readonly isJson: boolean
}

async function work({ project, target, targetName }: ProjectTarget, asked: Asked): Promise<number> {
  const { action, names, isJson, stage, extra, folder } = asked
  // Before anything is asked of the platform.
  const values = action === 'set' ? readSecrets(project, names, stage) : new Map<string, string>()
  const store = requirePlatform(target, 'secretStore')(project, { stage, extra, folder })
  const place = requirePlatform(target, 'place')(project, { stage, extra })
  // Also for a list: to read it, Vercel's folder is linked, which creates a project that does not exist.
  refuseDoubtful(place)
  for (const name of sharedSecrets(project, [...values.keys()], stage)) terminal.warn(sharedWith(name, stage))
  const tool = await openTool(store.tool, project, { loginOptions: store.loginOptions })
  if (place.lookUp?.isDecisive) await stateOf(place, tool)
  const hidden = [...values.values()]
  terminal.note(`secrets of the ${showPlace(place)}`)
  const linked = store.link === undefined ? 0 : await runAll([store.link], tool, hidden)
  if (linked !== 0) return linked
  if (action === 'list' && 'reason' in store.list) throw new CliError(store.list.reason)
  const told = 'reason' in store.list ? '' : await lookUp(store.list, tool, hidden)
  const stored = told === undefined ? undefined : store.read(told)
  if (!('reason' in store.list) && stored === undefined)
    throw new CliError(
      `${store.tool.name} does not tell the secrets of the ${showPlace(place)}: deploy the server first, and see the output above`,
    )
  if (action === 'list') return showList(stored ?? [], { place, targetName, isJson })
  const steps =
    action === 'set' ? store.set(values, told ?? '') : store.remove(present(names, stored, place), told ?? '')
  const code = await runAll(steps, tool, hidden)
  if (code !== 0) return code
  const done = action === 'set' ? 'stored' : 'removed'
  process.stdout.write(
    isJson
      ? `${toJsonLine({ [done]: names, ...placeAsJson(place, targetName) })}\n`
      : `${done} ${names.join(', ')}\n`,
  )
  terminal.note(`the server sees it ${store.takesEffect}`)
  return 0
}

/** Throws `CliError` for a name that is not stored, before anything is removed. */
function present(
  names: readonly string[],
  stored: readonly StoredSecret[] | undefined,
  place: Place,
): readonly string[] {
  const missing = stored && names.filter((name) => !stored.some((one) => one.name === name))
  if (missing === undefined || missing.length === 0) return names
  throw new CliError(
    `the ${showPlace(place)} has no ${missing.join(', ')}: nothing is removed; mayfly secrets list${stageOption(place.stage)} shows the names`,
  )
}

function showList(
  stored: readonly StoredSecret[],
  { place, targetName, isJson }: { place: Place; targetName: string; isJson: boolean },
): number {
  const sorted = stored.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  if (isJson) {
    process.stdout.write(`${toJsonLine({ ...placeAsJson(place, targetName), secrets: sorted })}\n`)
    return 0
  }
  const width = Math.max(0, ...sorted.map(({ name }) => name.length))
  const lines = sorted.map(({ name, changed }) => {
    const age =
      changed === undefined ? 'age not told' : `written ${changed.slice(0, 16).replace('T', ' ')} UTC`
    return `${printable(name).padEnd(width)}  ${age}\n`
  })
  process.stdout.write(lines.join(''))
  if (sorted.length === 0) terminal.note(`the ${showPlace(place)} has no secrets`)
  terminal.next('npx mayfly secrets set <NAME> stores one, with the same options')
  return 0
}
