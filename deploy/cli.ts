#!/usr/bin/env node
import { isA } from '../src/definition/error-text.ts'
import { packageManifest } from './project/mayfly-package.ts'
import { finish, listenForSignals, signalsSent } from './run/ending.ts'
/** The `mayfly` command: picks the subcommand and turns failures into one line and an exit code. */
import { CliError, printable, UsageError } from './terminal/cli-error.ts'
import { orMeant } from './terminal/command-line.ts'
import { type HelpRow, pathOf } from './terminal/help.ts'
import { alignColumns, stylesFor } from './terminal/styles.ts'
import { isSystemError } from './terminal/system-error.ts'
import { terminal } from './terminal/terminal.ts'

/** By what one wants to do. */
const HELP: readonly (readonly [heading: string, commands: readonly HelpRow[]])[] = [
  [
    'Write and run a server',
    [
      ['init [dir]', 'create a small project for one or more platforms'],
      ['dev [entry]', 'serve an MCP server locally, and reload on change'],
      ['stdio [entry]', 'serve one client over stdin and stdout, for desktop clients'],
      ['doctor [entry]', 'find what is missing, wrong, or degraded on a platform'],
    ],
  ],
  [
    'Deploy it',
    [
      ['build [entry]', 'build for a platform'],
      ['preview [entry]', "build, and run the result on the platform's runtime"],
      ['deploy [entry]', "build, check, and upload with the platform's own CLI"],
      ['secrets <action>', "list, set or remove the deployed server's secrets"],
      ['rollback [entry]', 'serve an earlier deployment again'],
      ['destroy [entry]', 'remove a stage, after asking for its name'],
    ],
  ],
  [
    'Run it in production',
    [
      ['logs [entry]', "stream the deployed server's logs with the platform's own CLI"],
      ['keys <action>', 'create, list or revoke API keys'],
      ['tasks <action>', 'list, show, retry or cancel durable tasks'],
      ['events <action>', 'list, show or redeliver what events could not deliver'],
      ['migrate [script]', "create the tables of the project's stores"],
      ['registry [entry]', 'write and validate the server.json for the MCP registry'],
      ['ingest <path>', 'load documents into a vector store, for mayfly-mcp/retrieval'],
    ],
  ],
  [
    'Any MCP server',
    [
      ['inspect <url>', 'try it in the browser, in the playground of dev'],
      ['check <url>', 'verify a deployed server, made with Mayfly or not'],
      ['add <url>', 'add it to the configuration of Cursor, VS Code, Claude and others'],
    ],
  ],
]

const OPTIONS: readonly HelpRow[] = [
  ['-h, --help', "show this help; mayfly help <command> shows a command's options"],
  ['-v, --version', 'show the version'],
]

function help(): string {
  const { command, heading } = stylesFor()
  const groups = [...HELP, ['Options', OPTIONS] as const]
  const first = Math.max(...groups.flatMap(([, rows]) => rows.map(([name]) => name.length)))
  const parts = groups.map(([title, rows]) => `${heading(title)}\n${alignColumns(rows, { first })}\n`)
  return `${command('mayfly <command>')}

${parts.join('\n')}
Exit codes: 0 success, 1 failure, 2 invalid command line, or no answer to
mayfly check.

Begin with npx mayfly-mcp init shop --target node
More: ${pathOf('cli.md')}
`
}

/** Commands are loaded on demand: `mayfly dev` does not wait for modules that only `mayfly check` needs. */
const COMMANDS: { readonly [name: string]: () => Promise<(args: string[]) => Promise<number>> } = {
  init: async () => (await import('./commands/init.ts')).init,
  dev: async () => (await import('./commands/dev.ts')).dev,
  build: async () => (await import('./commands/build.ts')).build,
  preview: async () => (await import('./commands/preview.ts')).preview,
  deploy: async () => (await import('./commands/deploy.ts')).deploy,
  secrets: async () => (await import('./commands/secrets.ts')).secrets,
  rollback: async () => (await import('./commands/rollback.ts')).rollback,
  destroy: async () => (await import('./commands/destroy.ts')).destroy,
  logs: async () => (await import('./commands/logs.ts')).logs,
  stdio: async () => (await import('./commands/stdio.ts')).stdio,
  doctor: async () => (await import('./commands/doctor.ts')).doctor,
  keys: async () => (await import('./commands/keys.ts')).keys,
  tasks: async () => (await import('./commands/tasks.ts')).tasks,
  events: async () => (await import('./commands/events.ts')).events,
  migrate: async () => (await import('./commands/migrate.ts')).migrate,
  inspect: async () => (await import('./commands/inspect.ts')).inspect,
  check: async () => (await import('./commands/check.ts')).check,
  add: async () => (await import('./commands/add.ts')).add,
  registry: async () => (await import('./commands/registry.ts')).registry,
  ingest: async () => (await import('./commands/ingest.ts')).ingest,
}

/** What other tools call our commands. */
const ELSEWHERE: { readonly [name: string]: string } = {
  create: 'init',
  delete: 'destroy',
  env: 'secrets',
  new: 'init',
  publish: 'deploy',
  remove: 'destroy',
  run: 'dev',
  secret: 'secrets',
  serve: 'dev',
  start: 'dev',
  test: 'check',
}

async function run([command, ...rest]: string[]): Promise<number> {
  if (command === '-v' || command === '--version') {
    process.stdout.write(`${packageManifest().version}\n`)
    return 0
  }
  if (command === undefined || ['-h', '--help', 'help'].includes(command)) {
    const [about] = rest
    if (about !== undefined && !about.startsWith('-')) return (await mainOf(about))(['--help'])
    process.stdout.write(help())
    return 0
  }
  return (await mainOf(command))(rest)
}

/** Throws `UsageError` for a command that does not exist. */
function mainOf(command: string): ReturnType<(typeof COMMANDS)[string]> {
  if (Object.hasOwn(COMMANDS, command)) return COMMANDS[command]!()
  if (command.startsWith('-')) {
    const remedy = orMeant(command.replace(/^-+/, ''), ['help', 'version'], 'see mayfly --help', '--')
    throw new UsageError(`the command comes first, as in mayfly dev ${printable(command)}: ${remedy}`)
  }
  const meant = Object.hasOwn(ELSEWHERE, command) ? ELSEWHERE[command]! : command
  const remedy = orMeant(meant, Object.keys(COMMANDS), 'see mayfly --help')
  throw new UsageError(`there is no command "${printable(command)}": ${remedy}`)
}

listenForSignals()
try {
  await finish(await run(process.argv.slice(2)))
} catch (error) {
  if (!isA(error, UsageError)) await signalsSent()
  // For example a full disk, or a file without read permission; the message says which.
  if (!isA(error, CliError) && !isSystemError(error)) throw error
  terminal.fail(error)
  await finish(isA(error, CliError) ? error.exitCode : 1)
}
