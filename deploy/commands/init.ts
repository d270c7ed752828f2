/** `mayfly init`: writes a small project for one platform or several. */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { type InitAnswers, projectFiles } from '../init/project-template.ts'
import { TEMPLATES, type Template } from '../init/server-template.ts'
import { findTarget, targetNames, targets } from '../targets/all.ts'
import { CliError, printable, UsageError } from '../terminal/cli-error.ts'
import { parseCommandLine } from '../terminal/command-line.ts'
import { quoted } from '../terminal/console.ts'

const HELP = `mayfly init [dir] [--target <name>]... [--name <name>] [--with <template>]...

  dir        the folder to write; created if needed; it must be empty, apart from .git
  --target   ${targetNames}; several may be given, the first is the one for npm run dev
  --name     of the package and the deployment: lower case letters, digits and dashes; default: the folder's
  --with     auth: clients need a token; asking: a tool that asks twice; hono: mounted in a Hono app;
             tasks: a tool that takes long, with a store and a runner of the platform; fromSdk: a server of the
             official SDK. Several may be given; fromSdk excludes asking and tasks

Asks for what is not given, on a terminal. Writes a server, a test, the platform's configuration, CI and .gitignore.

  mayfly init shop --target cloudflare
  mayfly init shop --target vercel --target lambda --name dice
  mayfly init shop --target bun --with auth --with hono
`

/** Names that npm and every platform accept. */
const NAME = /^[a-z][a-z\d-]{0,38}[a-z\d]$/

/** Files that a new folder may already contain. */
const TOLERATED = ['.git', '.DS_Store']

/** Exit code 0 when the project is written. Throws `UsageError` where something is missing and there is no terminal to ask on. */
export async function init(args: string[]): Promise<number> {
  const { values, positionals } = parseCommandLine('init', args, {
    target: { type: 'string', multiple: true },
    name: { type: 'string' },
    with: { type: 'string', multiple: true },
    help: { type: 'boolean', short: 'h' },
  })
  if (values.help) {
    process.stdout.write(HELP)
    return 0
  }
  if (positionals.length > 1)
    throw new UsageError(`one folder at a time: got ${printable(positionals.join(', '))}`)
  const given = { dir: positionals[0], targets: values.target, name: values.name }
  const templates = chosenTemplates(values.with ?? [])
  const { dir, ...chosen } = await complete(given)
  const answers = { ...chosen, templates }
  if (templates.has('tasks')) checkTaskPlatforms(answers.targets)
  const folder = resolve(dir)
  refuseOccupied(folder)
  const files = projectFiles(answers)
  for (const [path, text] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text, { flag: 'wx' })
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
  // Several names may also be one list, as at the prompt for targets.
  const wanted = names.flatMap((name) => name.split(','))
  const chosen = new Set(
    wanted.map((wantedName) => {
      const template = TEMPLATES.find((known) => known === wantedName)
      if (template !== undefined) return template
      throw new UsageError(
        `there is no template "${printable(wantedName)}": pass one of ${TEMPLATES.join(', ')}`,
      )
    }),
  )
  const own = (['asking', 'tasks'] as const).find((template) => chosen.has(template))
  if (chosen.has('fromSdk') && own !== undefined) {
    throw new UsageError(
      `a server of an official SDK has its own way of ${own}: pass --with fromSdk or --with ${own}`,
    )
  }
  return chosen
}

/** One server keeps its tasks in one way. Throws `UsageError` for platforms that differ in it, or that cannot. */
function checkTaskPlatforms(chosen: InitAnswers['targets']): void {
  const [first] = chosen
  const without = chosen.find(([, { tasks }]) => tasks === undefined)
  if (without !== undefined) {
    throw new UsageError(
      `${without[0]} has no store that can keep tasks: pass another --target, such as ${without[0].replace('-edge', '')}`,
    )
  }
  const other = chosen.find(([, { tasks }]) => tasks !== first![1].tasks)
  if (other !== undefined) {
    throw new UsageError(
      `${first![0]} and ${other[0]} keep tasks in different ways: make a project for each, and share what is in src/mcp.ts`,
    )
  }
}

/** Asks for what is missing, if there is a terminal. */
async function complete(given: Given): Promise<Completed> {
  if (given.dir !== undefined && given.targets !== undefined) {
    return check(given.dir, given.targets, given.name)
  }
  if (!process.stdin.isTTY) {
    throw new UsageError(
      'cannot ask without a terminal: pass a folder and --target, as in mayfly init shop --target cloudflare',
    )
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  // Line by line, so that what is typed ahead is not lost.
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
  return { dir, name, targets: [...new Set(names)].map((target) => [target, findTarget(target)]) }
}

function suggestedName(dir: string): string {
  return basename(resolve(dir))
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
  throw new CliError(`${printable(folder)} is not empty, it holds ${printable(found)}: pass another folder`)
}

function report(dir: string, { targets: chosen }: InitAnswers, paths: readonly string[]): string {
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
  ${last}        (${titles}: see node_modules/mayfly-mcp/docs/deploy)
`
}
