/** How a program is started on this platform: Windows starts neither scripts by their first line nor `.cmd` files by themselves. */

/** What `spawn` of `node:child_process` needs. */
export interface Started {
  readonly command: string
  readonly args: readonly string[]
  /** `args` are quoted. */
  readonly windowsVerbatimArguments?: boolean
}

/** A script of Node is run by this Node, and a `.cmd` file by `cmd.exe`; everything else as it is. */
export function toStart(
  program: string,
  args: readonly string[],
  platform: NodeJS.Platform = process.platform,
): Started {
  if (platform !== 'win32') return { command: program, args }
  if (/\.[cm]?js$/i.test(program)) return { command: process.execPath, args: [program, ...args] }
  if (!/\.(?:cmd|bat)$/i.test(program)) return { command: program, args }
  const line = [caret(program), ...args.map(quoted)].join(' ')
  return {
    command: process.env.comspec ?? 'cmd.exe',
    args: ['/d', '/s', '/c', `"${line}"`],
    windowsVerbatimArguments: true,
  }
}

/** Backslashes count double before a quote, and at the end. cmd.exe reads the line, and then the `.cmd` file reads it again. */
function quoted(arg: string): string {
  const inQuotes = `"${arg.replaceAll(/(\\*)"/g, '$1$1\\"').replace(/(\\+)$/, '$1$1')}"`
  return caret(caret(inQuotes))
}

function caret(text: string): string {
  return text.replaceAll(/[()[\]%!^"`<>&|;, *?]/g, '^$&')
}
