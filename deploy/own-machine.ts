/** Runtimes that are not a platform: where they run is for whoever owns the machine to say. */
import { CliError } from './cli-error.ts'

/** There is no upload: throws a `CliError` that names what to run instead. */
export function ownMachine(command: string): never {
  throw new CliError(
    `there is no platform to deploy this to: copy the built folder to your machine and run ${command} there, with PORT and HOST set`,
  )
}
