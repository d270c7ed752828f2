/** The command line of one subcommand. */

import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'
import { textOf } from '../../src/definition/error-text.ts'
import { nearest } from '../../src/definition/unknown-option.ts'
import { printable, UsageError } from './cli-error.ts'
import { type Help, renderHelp } from './help.ts'

type ParsedCommand<Options extends ParseArgsOptionsConfig> = ReturnType<
  typeof parseArgs<{ options: Options; allowPositionals: true }>
>

export type ParsedOptions<Options extends ParseArgsOptionsConfig> = ParsedCommand<Options>['values']

/** Node's `parseArgs`, with errors as a one-line `UsageError`. If `--help` is given, prints the help and returns undefined. */
export function parseCommand<const Options extends ParseArgsOptionsConfig>(
  command: string,
  help: Help,
  args: string[],
  options: Options,
): ParsedCommand<Options> | undefined {
  if (args.some((arg) => arg === '-h' || arg === '--help')) {
    process.stdout.write(renderHelp(help))
    return undefined
  }
  try {
    return parseArgs({ args, options, allowPositionals: true })
  } catch (error) {
    // The first sentence of parseArgs' message says which option is wrong.
    const [reason] = textOf(error).split(/[.\n]/)
    const [, unknown = ''] = /^Unknown option '--([\w-]+)'/.exec(reason ?? '') ?? []
    const see = `see mayfly ${command} --help`
    throw new UsageError(`${reason}: ${orMeant(unknown, Object.keys(options), see, '--')}`)
  }
}

/** `remedy`, after the known word that was probably meant: `did you mean build? See mayfly --help`. */
export function orMeant(given: string, known: readonly string[], remedy: string, before = ''): string {
  const near =
    given === '' ? undefined : (nearest(given, known) ?? known.find((one) => isSwapped(one, given)))
  return near === undefined
    ? remedy
    : `did you mean ${before}${near}? ${remedy.charAt(0).toUpperCase()}${remedy.slice(1)}`
}

/** Whether both have the same letters: `dve` is `dev`. */
function isSwapped(one: string, other: string): boolean {
  return [...one].sort().join('') === [...other].sort().join('')
}

/** The entry, if one is given. Throws `UsageError` for more than one. */
export function oneEntry(positionals: readonly string[]): string | undefined {
  if (positionals.length > 1)
    throw new UsageError(`only one entry is allowed: got ${printable(positionals.join(', '))}`)
  return positionals[0]
}

/** The target, if one is given. Throws `UsageError` for several. */
export function oneTarget(given: readonly string[] = []): string | undefined {
  const [first, ...others] = new Set(given)
  if (others.length === 0) return first
  const all = printable([first, ...others].join(', '))
  throw new UsageError(`only one target is allowed: got ${all}; run the command once for each`)
}

/** Throws `UsageError` for anything but a URL path. */
export function parsePath(text: string): string {
  if (/^\/[\w\-.~%!$&'()*+,;=:@/]*$/.test(text)) return text
  throw new UsageError(
    `"${printable(text)}" is not a path: pass one that begins with /, as in --path /api/mcp`,
  )
}

/** Throws `UsageError` for anything but a port. */
export function parsePort(text: string): number {
  const port = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (!(port <= 65535))
    throw new UsageError(`"${printable(text)}" is not a port: pass a number from 0 to 65535`)
  return port
}

/** Throws `UsageError` for anything but milliseconds from 1 to `max`. */
export function parseMs(name: string, text: string, max: number): number {
  const ms = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (!(ms >= 1 && ms <= max))
    throw new UsageError(`"${printable(text)}" is not a valid ${name}: pass milliseconds from 1 to ${max}`)
  return ms
}

const UNITS: { readonly [unit: string]: number } = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Milliseconds. Throws `UsageError`. */
export function parseTime(option: string, text: string): number {
  const [, count, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
  if (count === undefined)
    throw new UsageError(`"${printable(text)}" is not a time for --${option}: pass 90s, 10m, 2h or 7d`)
  return Number(count) * UNITS[unit]!
}
