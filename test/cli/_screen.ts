/** A command on a terminal of 80 columns: script(1) of util-linux gives it one. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { expect } from 'vitest'
import { until } from './_dev-process.ts'

const CLI = fileURLToPath(new URL('../../deploy/cli.ts', import.meta.url))

const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`

/** A command that runs on a terminal. Ended with `await using`. */
export class Screen implements AsyncDisposable {
  /** With the styles. */
  raw = ''
  readonly #child: ReturnType<typeof spawn>
  readonly #closed: Promise<unknown>

  constructor(args: readonly string[], cwd: string, env: NodeJS.ProcessEnv = {}) {
    const command = [process.execPath, CLI, ...args].map(quoted).join(' ')
    // Node looks at CI before it looks at the terminal.
    const none = { CI: undefined, NO_COLOR: undefined, FORCE_COLOR: undefined, TERM: 'xterm' }
    this.#child = spawn('script', ['-qfec', `stty cols 80 rows 24; exec ${command}`, '/dev/null'], {
      cwd,
      env: { ...process.env, ...none, ...env },
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.raw += text.replaceAll('\r\n', '\n')
    })
    this.#closed = once(this.#child, 'close')
  }

  /** Resolves when the words are on the screen. Throws with the screen if the command ends before. */
  async says(words: string | RegExp): Promise<void> {
    const pattern = typeof words === 'string' ? undefined : words
    const isSaid = (): boolean => pattern?.test(this.text) ?? this.text.includes(words as string)
    let hasEnded = false
    void this.#closed.then(() => {
      hasEnded = true
    })
    await until(() => hasEnded || isSaid())
    if (!isSaid()) throw new Error(`ended without ${words}:\n${this.text}`)
  }

  /** Without the styles. */
  get text(): string {
    return stripVTControlCharacters(this.raw)
  }

  /** Resolves with the exit code when the command has ended by itself. */
  async end(): Promise<number | null> {
    await this.#closed
    return this.#child.exitCode
  }

  /** Ctrl+C, as the terminal passes it on. */
  async interrupt(): Promise<void> {
    this.#child.stdin?.write('\u0003')
    await this.#closed
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode === null) this.#child.kill()
    await this.#closed
  }
}

/** What is left of it: without styles, and without what was written over. */
export function leftOf(raw: string): string {
  const lines = raw.split('\n').map((line) => line.split('\r\u001b[K').at(-1)!)
  return stripVTControlCharacters(lines.join('\n'))
}

/**
 * Compares a screen with a file that shows it as a person sees it; what differs in each run is replaced by what is alike in all. `commands`:
 * other lines that are not wrapped.
 */
export async function expectScreen(
  text: string,
  name: string,
  commands = /^ {2}(?:Add it|mayfly) /,
): Promise<void> {
  const screen = leftOf(text)
    .replace(/^\^C/m, '')
    .replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:3000')
    .replaceAll(/\b\d\d:\d\d:\d\d\b/g, '22:58:34')
    .replaceAll(/\b\d+ ms\b|\b\d+\.\d s\b/g, '84 ms')
    .replaceAll(/mayfly \d+\.\d+\.\d+/g, 'mayfly 0.1.0')
  await expect(screen).toMatchFileSnapshot(`screens/${name}.txt`)
  // The terminal wraps a message and a command: each can be searched, and copied, as one line.
  const wrapped = screen.split('\n').filter((line) => !line.startsWith('mayfly: ') && !commands.test(line))
  for (const line of wrapped) expect(line.length, line).toBeLessThanOrEqual(80)
}
