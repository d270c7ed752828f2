#!/usr/bin/env node
import { packageManifest } from './project/mayfly-package.ts'
import { listenForSignals } from './run/ending.ts'
/** The `mayfly` command: picks the subcommand and turns failures into one line and an exit code. */
import { CliError, printable, UsageError } from './terminal/cli-error.ts'
import { isSystemError } from './terminal/system-error.ts'
import { terminal } from './terminal/terminal.ts'

const HELP = `mayfly <command>

  init [dir]      write a small project for one platform or several
  dev [entry]     serve an MCP server on this machine, reloading on change
  build [entry]   write what a platform deploys
  preview [entry] build, and run the result on the platform's own runtime
  deploy [entry]  build, check, and upload with the platform's own tool
  logs [entry]    what the deployed server logs, as it comes, by the platform's own tool
  stdio [entry]   serve one client over stdin and stdout, as desktop clients start their servers
  doctor [entry]  what is missing, what is wrong, and what will degrade on a platform
  inspect <url>   try any MCP server in the browser, on the page that dev shows
  check <url>     probe a deployed MCP server, this one or any other
  add <url>       write a server into the configuration of Cursor, VS Code, Claude and other clients
  registry [entry] write and validate the server.json with which the MCP registry lists a server
  ingest <path>   fill an index of a vector store with documents, for mayfly-mcp/retrieval

  -h, --help      show this; mayfly <command> --help says more
  -v, --version   show the version

Exit codes: 0 done, 1 it failed, 2 the command line is wrong, or nothing answers mayfly check.
`

/** Each command is loaded when it is called: `mayfly dev` does not wait for what only `mayfly check` needs. */
const COMMANDS: { readonly [name: string]: () => Promise<(args: string[]) => Promise<number>> } = {
  init: async () => (await import('./commands/init.ts')).init,
  dev: async () => (await import('./commands/dev.ts')).dev,
  build: async () => (await import('./commands/build.ts')).build,
  preview: async () => (await import('./commands/preview.ts')).preview,
  deploy: async () => (await import('./commands/deploy.ts')).deploy,
  logs: async () => (await import('./commands/logs.ts')).logs,
  stdio: async () => (await import('./commands/stdio.ts')).stdio,
  doctor: async () => (await import('./commands/doctor.ts')).doctor,
  inspect: async () => (await import('./commands/inspect.ts')).inspect,
  check: async () => (await import('./commands/check.ts')).check,
  add: async () => (await import('./commands/add.ts')).add,
  registry: async () => (await import('./commands/registry.ts')).registry,
  ingest: async () => (await import('./commands/ingest.ts')).ingest,
}

async function run([command, ...rest]: string[]): Promise<number> {
  if (command === '-v' || command === '--version') {
    process.stdout.write(`${packageManifest().version}\n`)
    return 0
  }
  if (command === undefined || ['-h', '--help', 'help'].includes(command)) {
    process.stdout.write(HELP)
    return 0
  }
  if (!Object.hasOwn(COMMANDS, command)) {
    throw new UsageError(`there is no command "${printable(command)}": see mayfly --help`)
  }
  const main = await COMMANDS[command]!()
  return main(rest)
}

listenForSignals()
try {
  process.exit(await run(process.argv.slice(2)))
} catch (error) {
  // Such as a full disk, or a file that this user may not read: the message says which.
  if (!(error instanceof CliError) && !isSystemError(error)) throw error
  terminal.warn(error.message)
  process.exit(error instanceof CliError ? error.exitCode : 1)
}
