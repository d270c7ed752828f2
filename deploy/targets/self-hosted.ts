/** Runtimes without a platform, which users run on their own machines. */
import { CliError } from '../terminal/cli-error.ts'

/** Throws a `CliError` that says what to run instead of an upload. */
export function ownMachine(command: string): never {
  throw new CliError(
    `this target has no platform to deploy to: copy the built folder to your machine and run ${command} there, with PORT and HOST set`,
  )
}

/**
 * Code for a server that `npm start` runs and that has a function `stop`. npm passes SIGTERM only to the script's shell, and a killed npm
 * passes nothing, so the server watches both processes and ends with either. Without `/proc`, it ends only with its parent.
 */
export const END_WITH_SCRIPT = `import { readFileSync } from 'node:fs'

const { ppid, env } = process
const read = (pid, what) => {
  try {
    return readFileSync('/proc/' + pid + '/' + what, 'utf8')
  } catch {
    return ''
  }
}
const parentOf = (pid) => read(pid, 'stat').split(') ').at(-1).split(' ')[1]
// A shell between npm and this process; without one, the parent is npm itself, whose own parent may go.
const npm = /(?:^|\\0)npm_lifecycle_event=/.test(read(ppid, 'environ')) ? parentOf(ppid) : undefined
const isLeft = () => process.ppid !== ppid || (npm !== undefined && parentOf(ppid) !== npm)
if (env.npm_lifecycle_event) setInterval(() => isLeft() && stop(), 250).unref()
`
