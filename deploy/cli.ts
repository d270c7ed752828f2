#!/usr/bin/env node
/** The `mayfly` command: picks the subcommand and turns failures into one line and an exit code. */
import { createRequire } from 'node:module'
import { CliError, UsageError } from './cli-error.ts'

const HELP = `mayfly <command>

  dev [entry]     serve an MCP server on this machine, reloading on change
  build [entry]   write what a platform takes
  preview [entry] build, and run the very result on the platform's own runtime
  deploy [entry]  build, check, and upload with the platform's own tool

  -h, --help      show this; mayfly <command> --help says more
  -v, --version   show the version

Exit codes: 0 done, 1 it failed, 2 the command line makes no sense.
`

/** Each is loaded when it is called: `mayfly dev` does not wait for what only `mayfly check` needs. */
const COMMANDS: { readonly [name: string]: () => Promise<(args: string[]) => Promise<number>> } = {
  dev: async () => (await import('./dev.ts')).dev,
  build: async () => (await import('./build.ts')).build,
  preview: async () => (await import('./preview.ts')).preview,
  deploy: async () => (await import('./deploy.ts')).deploy,
}

async function run([command, ...rest]: string[]): Promise<number> {
  if (command === '-v' || command === '--version') {
    process.stdout.write(`${packageVersion()}\n`)
    return 0
  }
  if (command === undefined || command === '-h' || command === '--help') {
    process.stdout.write(HELP)
    return 0
  }
  if (!Object.hasOwn(COMMANDS, command)) {
    throw new UsageError(`there is no command "${command}": see mayfly --help`)
  }
  const main = await COMMANDS[command]!()
  return main(rest)
}

/** The package refers to itself by name, so that this works from source and from dist/ alike. */
function packageVersion(): string {
  return (createRequire(import.meta.url)('mayfly-mcp/package.json') as { version: string }).version
}

try {
  process.exit(await run(process.argv.slice(2)))
} catch (error) {
  if (!(error instanceof CliError)) throw error
  process.stderr.write(`mayfly: ${error.message}\n`)
  process.exit(error.exitCode)
}
