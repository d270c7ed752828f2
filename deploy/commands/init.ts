/** `mayfly init`: creates a small project for one or more platforms. */

import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { grantsOf } from '../contract/abilities.ts'
import { type InitAnswers, projectFiles } from '../init/project-template.ts'
import { TEMPLATES, type Template } from '../init/server-template.ts'
import { isSecretFile } from '../project/secrets.ts'
import { findTarget, targetNames, targets } from '../targets/all.ts'
import { CliError, printable, UsageError } from '../terminal/cli-error.ts'
import { orMeant, parseCommand } from '../terminal/command-line.ts'
import type { Help } from '../terminal/help.ts'
import { quoted } from '../terminal/shell-word.ts'

const HELP: Help = {
  usage: ['mayfly init [dir] [--target <name>]... [--name <name>] [--with <template>]...'],
  options: [
    ['dir', 'the folder to write; created if needed; must be empty, except for .git'],
    ['--target', `${targetNames}; may be repeated; npm run dev uses the first`],
    [
      '--name',
      "name of the package and the deployment: lower case letters, digits and dashes; default: the folder's",
    ],
    [
      '--with',
      'auth: clients need a token; sign-in: people sign in with Google; asking: a tool that asks twice; hono: mounted in a Hono app; tasks: a long-running tool, with a store and a runner for the platform; events: an event that clients subscribe to, with a store for the platform and auth; fromSdk: a server of the official SDK. May be repeated; fromSdk excludes asking, tasks and events, sign-in excludes auth, events excludes tasks',
    ],
  ],
  text: [
    "On a terminal, prompts for missing options. Writes a server, a test, the platform's configuration, CI and .gitignore.",
  ],
  examples: [
    'mayfly init shop --target cloudflare',
    'mayfly init shop --target vercel --target lambda --name dice',
    'mayfly init shop --target bun --with auth --with hono',
  ],
  page: 'cli.md',
}

/** Names that npm and every platform accept. */
const NAME = /^[a-z][a-z\d-]{0,38}[a-z\d]$/

/** Files that a new folder may already contain. */
const TOLERATED = ['.git', '.DS_Store']

/** Exit code 0 when the project is written. Throws `UsageError` if an option is missing and there is no terminal to prompt on. */
export async function init(args: string[]): Promise<number> {
  const line = parseCommand('init', HELP, args, {
    target: { type: 'string', multiple: true },
    name: { type: 'string' },
    with: { type: 'string', multiple: true },
  })
  if (line === undefined) return 0
  const { values, positionals } = line
  if (positionals.length > 1)
    throw new UsageError(`one folder at a time: got ${printable(positionals.join(', '))}`)
  const given = { dir: positionals[0], targets: values.target, name: values.name }
  const templates = chosenTemplates(values.with ?? [])
  const { dir, ...chosen } = await complete(given)
  const answers = { ...chosen, templates }
  if (templates.has('tasks')) checkPlatforms(answers.targets, 'tasks', ({ tasks }) => tasks)
  if (templates.has('events')) checkPlatforms(answers.targets, 'events', ({ tasks }) => tasks)
  if (templates.has('sign-in')) checkPlatforms(answers.targets, 'connections', ({ tasks }) => grantsOf(tasks))
  const folder = resolve(dir)
  refuseOccupied(folder)
  const files = projectFiles(answers)
  for (const [path, text] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text, {
      flag: 'wx',
      mode: isSecretFile(basename(path)) ? 0o600 : 0o666,
    })
  }
  process.stdout.write(report(dir, answers, [...files.keys()]))
  return 0
}

interface Given {
  readonly dir: string | undefined
  readonly targets: readonly string[] | undefined
  readonly name: string | undefined
}

type Completed = Pick<InitAnswers, 'name' | 'targets'> & { readonly dir: string }

/** Throws `UsageError` for an unknown template, and for two that exclude each other. */
function chosenTemplates(names: readonly string[]): ReadonlySet<Template> {
  // Also accepts a comma-separated list, like the prompt for targets.
  const wanted = names.flatMap((name) => name.split(','))
  const chosen = new Set(
    wanted.map((wantedName) => {
      const template = TEMPLATES.find((known) => known === wantedName)
      if (template !== undefined) return template
      throw new UsageError(
        `there is no template "${printable(wantedName)}": ${orMeant(wantedName, TEMPLATES, `pass one of ${TEMPLATES.join(', ')}`)}`,
      )
    }),
  )
  const own = (['asking', 'tasks', 'events'] as const).find((template) => chosen.has(template))
  if (chosen.has('fromSdk') && own !== undefined) {
    throw new UsageError(
      `a server of the official SDK does ${own} in its own way: pass --with fromSdk or --with ${own}`,
    )
  }
  if (chosen.has('auth') && chosen.has('sign-in'))
    throw new UsageError('people sign in, or clients have one token: pass --with auth or --with sign-in')
  if (chosen.has('tasks') && chosen.has('events'))
    throw new UsageError(
      'a new project has one schedule, for tasks or for events: pass --with tasks or --with events, and add the other by docs/tasks.md or docs/mcp-events.md',
    )
  // Webhooks belong to somebody.
  if (chosen.has('events') && !chosen.has('sign-in')) chosen.add('auth')
  return chosen
}

/** A server has one store. Throws `UsageError` for platforms that need different stores, or that have none. */
function checkPlatforms(
  chosen: InitAnswers['targets'],
  what: 'tasks' | 'events' | 'connections',
  storeOf: (target: InitAnswers['targets'][number][1]) => string | undefined,
): void {
  const [first] = chosen
  const without = chosen.find(([, target]) => storeOf(target) === undefined)
  if (without !== undefined) {
    throw new UsageError(
      `${without[0]} has no store that can keep ${what}: pass another --target, such as ${without[0].replace('-edge', '')}`,
    )
  }
  const other = chosen.find(([, target]) => storeOf(target) !== storeOf(first![1]))
  if (other !== undefined) {
    throw new UsageError(
      `${first![0]} and ${other[0]} keep ${what} in different ways: make a project for each, and share ${what === 'connections' ? 'its tools' : 'src/mcp.ts'}`,
    )
  }
}

/** Prompts for missing options if there is a terminal. */
async function complete(given: Given): Promise<Completed> {
  if (given.dir !== undefined && given.targets !== undefined) {
    return check(given.dir, given.targets, given.name)
  }
  if (!process.stdin.isTTY) {
    throw new UsageError(
      'cannot prompt without a terminal: pass a folder and --target, as in mayfly init shop --target cloudflare',
    )
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  // Line by line, so that input typed ahead is not lost.
  const lines = terminal[Symbol.asyncIterator]()
  const ask = async (question: string, fallback: string): Promise<string> => {
    process.stderr.write(`${question} (${fallback}): `)
    const { value, done } = await lines.next()
    if (done) throw new CliError('nothing was written')
    return (value as string).trim() || fallback
  }
  try {
    const dir = given.dir ?? (await ask('Folder', 'my-mcp-server'))
    const name = given.name ?? (await ask('Name', suggestedName(dir)))
    process.stderr.write(
      `${[...targets].map(([key, { title }]) => `  ${key.padEnd(14)}${title}`).join('\n')}\n`,
    )
    const chosen =
      given.targets ?? (await ask('Platforms, separated by commas', 'cloudflare')).split(/[\s,]+/)
    return check(dir, chosen, name)
  } finally {
    terminal.close()
  }
}

function check(dir: string, names: readonly string[], given: string | undefined): Completed {
  const name = given ?? suggestedName(dir)
  if (!NAME.test(name)) {
    throw new UsageError(
      `"${printable(name)}" cannot be a name on every platform: pass --name with 2 to 40 lower case letters, digits and dashes, a letter first`,
    )
  }
  const chosen = [...new Set(names)].map((target) => [target, findTarget(target)] as const)
  for (const [, { refuseName }] of chosen) refuseName?.(name, 'pass another --name')
  return { dir, name, targets: chosen }
}

function suggestedName(dir: string): string {
  return basename(resolve(dir))
    .normalize('NFD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/[^a-z\d]+/g, '-')
    .replace(/^[^a-z]+|-+$/g, '')
    .slice(0, 40)
}

/** Nothing is ever overwritten. */
function refuseOccupied(folder: string): void {
  if (!existsSync(folder)) return
  const found = readdirSync(folder).find((name) => !TOLERATED.includes(name))
  if (found === undefined) return
  const instead = existsSync(join(folder, 'package.json'))
    ? ', or add a server to this project: npm install mayfly-mcp zod, then write src/server.ts and run npx mayfly doctor'
    : ''
  throw new CliError(
    `${printable(folder)} is not empty: it contains ${printable(found)}; pass another folder${instead}`,
  )
}

function report(dir: string, { targets: chosen, templates }: InitAnswers, paths: readonly string[]): string {
  const cd = relative(process.cwd(), resolve(dir))
  const uploaded = chosen.findIndex(([, { isOwnMachine }]) => !isOwnMachine)
  const suffix = uploaded > 0 ? `:${chosen[uploaded]![0]}` : ''
  const last = uploaded < 0 ? 'npm run build' : `npm run deploy${suffix}`
  const tooOld = chosen
    .filter(([, { oldestNode = 0 }]) => Number.parseInt(process.versions.node, 10) < oldestNode)
    .map(
      ([, { title, oldestNode }]) =>
        `${title} needs Node ${oldestNode} or newer here; this is ${process.version}.\n`,
    )
  const titles = chosen.map(([, { title }]) => title).join(', ')
  return `${paths.map((path) => `wrote ${printable(join(cd, path))}`).join('\n')}

${tooOld.join('')}Next:
${cd === '' ? '' : `  cd ${printable(quoted(cd))}\n`}  npm install
  npm run dev
  ${last}

${titles}: see node_modules/mayfly-mcp/docs/deploy
${templates.has('sign-in') ? 'Sign-in: see node_modules/mayfly-mcp/docs/sign-in.md\n' : ''}`
}
