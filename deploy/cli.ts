#!/usr/bin/env node
/** The `mayfly` command: picks the subcommand and turns failures into one line and exit code 1. */
import { createRequire } from 'node:module'
import { CliError } from './cli-error.ts'
import { dev } from './dev.ts'

const HELP = `mayfly <command>

  dev [entry]     serve an MCP server on this machine, reloading on change; mayfly dev --help says more

  -h, --help      show this
  -v, --version   show the version
`

async function run([command, ...rest]: string[]): Promise<number> {
  if (command === 'dev') return dev(rest)
  if (command === '-v' || command === '--version') {
    process.stdout.write(`${packageVersion()}\n`)
    return 0
  }
  if (command === undefined || command === '-h' || command === '--help') {
    process.stdout.write(HELP)
    return 0
  }
  throw new CliError(`there is no command "${command}": see mayfly --help`)
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
  process.exit(1)
}
