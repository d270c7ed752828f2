/** Opens a local page in the user's browser. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { html } from '../../src/http/html.ts'
import { isSystemError, systemError } from '../terminal/system-error.ts'
import { terminal } from '../terminal/terminal.ts'
import { atExit } from './ending.ts'

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
  const file = redirectTo(url)
  if (file === undefined) return
  const [command, ...args] = OPENERS[process.platform] ?? ['xdg-open']
  const child = spawn(command, [...args, file], { stdio: 'ignore', detached: true })
  child.on('error', () => terminal.note('cannot open a browser: open the address above'))
  child.unref()
}

/**
 * A file of this user alone that leads to the URL, removed when this process ends. Every user of the machine can read the arguments of a
 * program, and the URL contains a token.
 */
function redirectTo(url: string): string | undefined {
  try {
    const folder = mkdtempSync(join(tmpdir(), 'mayfly-open-'))
    atExit(() => rmSync(folder, { recursive: true, force: true }))
    const file = join(folder, 'open.html')
    const page = html`<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0;url=${url}"><a href="${url}">Open the page</a>\n`
    writeFileSync(file, page.markup, { mode: 0o600 })
    return file
  } catch (error) {
    if (!isSystemError(error)) throw error
    terminal.note(`${systemError('cannot open a browser', error).message}: open the address above`)
    return undefined
  }
}
