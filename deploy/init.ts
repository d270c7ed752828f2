/** `mayfly init`: writes a small project for one platform or several. */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { CliError, UsageError } from './cli-error.ts'
import { parseCommandLine } from './command-line.ts'
import { type InitAnswers, projectFiles } from './init/project-template.ts'
import { findTarget, targetNames, targets } from './targets.ts'

const HELP = `mayfly init [dir] [--target <name>]... [--name <name>]

  dir        the folder to write; made if need be, and empty but for .git
  --target   ${targetNames}; several may be given, the first is the one for npm run dev
  --name     of the package and the deployment: lower case letters, digits and dashes; default: the folder's

Asks for what is not given, on a terminal. Writes a server, a test, the platform's configuration, CI and .gitignore.

  mayfly init shop --target cloudflare
  mayfly init shop --target vercel --target lambda --name dice
`

/** As npm and every platform take it. */
const NAME = /^[a-z][a-z\d-]{0,38}[a-z\d]$/

/** What a new folder may hold already. */
const TOLERATED = ['.git', '.DS_Store']

/** Exit code 0 when the project is written. Throws `UsageError` where something is missing and nobody can be asked. */
export async function init(args: string[]): Promise<number> {
  const { values, positionals } = parseCommandLine('init', args, {
    target: { type: 'string', multiple: true },
    name: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  })
  if (values.help) {
    process.stdout.write(HELP)
    return 0
  }
  if (positionals.length > 1) throw new UsageError(`one folder at a time: got ${positionals.join(', ')}`)
  const given = { dir: positionals[0], targets: values.target, name: values.name }
  const { dir, ...answers } = await complete(given)
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

/** Asks for what is missing, where there is somebody to ask. */
async function complete(given: Given): Promise<InitAnswers & { dir: string }> {
  if (given.dir !== undefined && given.targets !== undefined) {
    return check(given.dir, given.targets, given.name)
  }
  if (!process.stdin.isTTY) {
    throw new UsageError(
      'there is nobody to ask here: pass a folder and --target, as in mayfly init shop --target cloudflare',
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

function check(
  dir: string,
  names: readonly string[],
  given: string | undefined,
): InitAnswers & { dir: string } {
  const name = given ?? suggestedName(dir)
  if (!NAME.test(name)) {
    throw new UsageError(
      `"${name}" cannot be a name on every platform: pass --name with 2 to 40 lower case letters, digits and dashes, a letter first`,
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
  throw new CliError(`${folder} is not empty, it holds ${found}: pass another folder`)
}

function report(dir: string, { targets: chosen }: InitAnswers, paths: readonly string[]): string {
  const cd = relative(process.cwd(), resolve(dir))
  return `${paths.map((path) => `wrote ${join(cd, path)}`).join('\n')}

Next:
${cd === '' ? '' : `  cd ${cd}\n`}  npm install
  npm run dev
  npm run deploy        (${chosen.map(([, { title }]) => title).join(', ')}: see docs/deploy in the package mayfly-mcp)
`
}
