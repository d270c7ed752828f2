/** Buffers the initial output of a platform's tool until it is known whether one line can replace it. */
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { writeSync } from 'node:fs'
import { stylesFor } from '../terminal/styles.ts'
import { terminal } from '../terminal/terminal.ts'
import { createRequestLog, type RequestLogOptions } from './request-line.ts'

export interface HeldOutput {
  /** Resolves when the buffered output matches the pattern. */
  contains(pattern: RegExp): Promise<void>
  /** Calls `listener` for each piece of output that matches, also later. */
  follow(pattern: RegExp, listener: (piece: string) => void): void
  /** The buffered output. */
  readonly text: string
  /** Resolves when the output has ended. */
  readonly ended: Promise<unknown>
  /** Writes the buffered output and everything that follows. */
  release(): void
  /** Drops the buffered output and everything that follows. */
  discard(): void
}

export interface HoldOptions {
  /** A file descriptor. Default stderr, where requests are short lines if it is a terminal. */
  readonly output?: number | undefined
  /** See `RequestLogOptions`. */
  readonly echo?: RegExp
  readonly onServerError?: RequestLogOptions['onServerError']
}

/** Buffers the output of a child process whose stdout and stderr are pipes. Requests of `mayfly dev` itself are not shown. */
export function holdOutput(
  child: ChildProcess,
  { output = 2, echo, onServerError }: HoldOptions = {},
): HeldOutput {
  let held = ''
  let pass = (text: string): void => {
    held += text
  }
  const followed: { pattern: RegExp; listener: (piece: string) => void }[] = []
  const waiting: { pattern: RegExp; resolve: () => void }[] = []
  const take = (text: string): void => {
    pass(text)
    for (const { pattern, listener } of followed) if (pattern.test(text)) listener(text)
    for (const { pattern, resolve } of waiting) if (pattern.test(held)) resolve()
  }
  const isScreen = output === 2 && process.stderr.isTTY === true
  const log = createRequestLog({
    styles: isScreen ? stylesFor(process.stderr) : undefined,
    echo,
    onServerError,
  })
  for (const stream of [child.stdout, child.stderr]) {
    const filter = log.filter()
    stream?.setEncoding('utf8').on('data', (text: string) => take(filter(text)))
    stream?.on('end', () => take(filter(undefined)))
  }
  const drop = (): void => {}
  const passTo = (next: (text: string) => void): void => {
    if (pass === drop) return
    next(held)
    held = ''
    pass = next
  }
  const write = (text: string): void => {
    if (output === 2) terminal.pass(text)
    else if (text !== '') writeSync(output, text)
  }
  return {
    contains: (pattern) => new Promise((resolve) => waiting.push({ pattern, resolve })),
    follow: (pattern, listener) => void followed.push({ pattern, listener }),
    get text() {
      return held
    },
    ended: once(child, 'close'),
    release: () => passTo(write),
    discard: () => passTo(drop),
  }
}

/**
 * The runtime's error message for a server that did not load: `TypeError: tools.x needs a description`. Undefined if the output has no such
 * line.
 */
export function loadError(output: string): string | undefined {
  const line =
    /^(?:error: |cannot load the server: )?(?:Uncaught )?(?:\(in promise\) )?(\w*Error(?: \[\w+\])?: .+)$/m
  return line.exec(output)?.[1]
}
