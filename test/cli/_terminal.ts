/** What a terminal shows, and commands that run on one of 80 columns. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { quoted } from '../../deploy/terminal/shell-word.ts'

/** What a terminal takes for more than text. A line ends with a line feed, and that is all. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there.
export const STEERING = /[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/u

const CLI = fileURLToPath(new URL('../../deploy/cli.ts', import.meta.url))

/** Everything that was written to it, on stdout and stderr, and the exit code. `script` of util-linux makes the terminal. */
export async function onTerminal(
  args: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv = {},
): Promise<{ code: number; written: string }> {
  const command = [process.execPath, CLI, ...args].map(quoted).join(' ')
  const child = spawn('script', ['-qec', `stty cols 80 rows 24; ${command}`, '/dev/null'], {
    cwd,
    env: { ...process.env, NO_COLOR: undefined, FORCE_COLOR: undefined, TERM: 'xterm-256color', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let written = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    written += text
  })
  const [code] = await once(child, 'close')
  return { code: code as number, written }
}

/** What is left on the screen: without styles, and without lines that were written over. */
export function screenOf(written: string): string {
  const lines = written.replaceAll('\r\n', '\n').split('\n')
  return (
    lines
      .map((line) => line.split('\r\u001b[K').at(-1)!)
      .join('\n')
      // biome-ignore lint/suspicious/noControlCharactersInRegex: SGR of ECMA-48.
      .replaceAll(/\u001b\[[\d;]*m/g, '')
  )
}
