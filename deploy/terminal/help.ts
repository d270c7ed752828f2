/** The help of a command, which `--help` prints: every one has aligned options, examples and a page. */
import { createRequire } from 'node:module'
import { dirname, isAbsolute, join, relative } from 'node:path'
import { alignColumns, stylesFor, WIDTH, wrap } from './styles.ts'

/** An option or argument, and what it does. */
export type HelpRow = readonly [name: string, meaning: string]

export interface Help {
  /** `mayfly dev [entry] [--open]`, one for each form of the command; with what it does, if there are several. */
  readonly usage: readonly (string | HelpRow)[]
  readonly options: readonly HelpRow[]
  /** Paragraphs, and tables of what the options name. */
  readonly text: readonly (string | readonly HelpRow[])[]
  /** Commands that can be typed as they are, with a word about them if they need one. */
  readonly examples: readonly [string | HelpRow, ...(string | HelpRow)[]]
  /** The page in docs/, such as `cli.md`. */
  readonly page: string
}

export function renderHelp({ usage, options, text, examples, page }: Help): string {
  const { heading } = stylesFor()
  const parts = [
    ...text.map((part) => (typeof part === 'string' ? wrap(part).join('\n') : alignColumns(part))),
    `${heading('Examples')}\n${examples.map(toExample).join('\n')}`,
    `More: ${pathOf(page)}`,
  ]
  return `${usage.map(toUsage).join('\n')}\n\n${alignColumns(options)}\n\n${parts.join('\n\n')}\n`
}

/** Wrapped between arguments, below the first one. */
function toUsage(form: string | HelpRow): string {
  const { command, dim } = stylesFor()
  const [line, meaning] = typeof form === 'string' ? [form] : form
  const [, name = '', rest = ''] = /^(mayfly (?:<command>|[a-z]+(?: [a-z]+(?= |$))?))(.*)$/.exec(line) ?? [
    '',
    '',
    line,
  ]
  const words = rest.match(/\[(?:[^[\]]|\[[^\]]*\])*\](?:\.\.\.)?|\S+(?: <[^>]*>(?:\.\.\.)?)?/g) ?? []
  const lines = ['']
  for (const word of words) {
    const isFull = name.length + lines.at(-1)!.length + 1 + word.length > WIDTH
    if (isFull) lines.push(` ${word}`)
    else lines[lines.length - 1] += ` ${word}`
  }
  const shown = command(name) + lines.join(`\n${' '.repeat(name.length)}`)
  return meaning === undefined
    ? shown
    : `${shown}\n${dim(
        wrap(meaning, WIDTH - 4)
          .join('\n')
          .replaceAll(/^/gm, '    '),
      )}`
}

/** Not wrapped, so that it can be copied. */
function toExample(example: string | HelpRow): string {
  const [line, meaning] = typeof example === 'string' ? [example] : example
  return meaning === undefined ? `  ${line}` : `  ${line}    (${meaning})`
}

/** Of a page in the installed package, as short as it can be opened from here. */
export function pathOf(page: string): string {
  const folder = dirname(createRequire(import.meta.url).resolve('mayfly-mcp/package.json'))
  const path = join(folder, 'docs', page)
  const near = relative(process.cwd(), path)
  return isAbsolute(near) || near.startsWith(join('..', '..')) ? path : near
}
