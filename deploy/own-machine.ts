/** Runtimes that are not a platform: users run them on their own machines. */
import { CliError } from './cli-error.ts'

/** There is no upload: throws a `CliError` that names what to run instead. */
export function ownMachine(command: string): never {
  throw new CliError(
    `this target has no platform to deploy to: copy the built folder to your machine and run ${command} there, with PORT and HOST set`,
  )
}

/** Code for a server that `npm start` runs and that has a function `stop`: npm passes SIGTERM only to the script's shell. */
export const END_WITH_SCRIPT = `const { ppid, env } = process
if (env.npm_lifecycle_event) setInterval(() => process.ppid === ppid || stop(), 250).unref()
`
