/** Opens a local page in the user's browser. */
import { spawn } from 'node:child_process'
import { terminal } from './terminal.ts'

const OPENERS: { readonly [platform: string]: readonly [string, ...string[]] } = {
  darwin: ['open'],
  // The first argument in quotes would be a title.
  win32: ['cmd', '/c', 'start', ''],
}

/** Only on a terminal, not in a script or CI. If no browser opens, the address is still on the terminal. */
export function openInBrowser(url: string): void {
  if (process.stderr.isTTY !== true && process.stdout.isTTY !== true) {
    terminal.note('--open opens a browser only on a terminal')
    return
  }
  const [command, ...args] = OPENERS[process.platform] ?? ['xdg-open']
  const child = spawn(command, [...args, url], { stdio: 'ignore', detached: true })
  child.on('error', () => terminal.note(`cannot open a browser: open ${url}`))
  child.unref()
}
