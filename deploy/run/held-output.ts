/** Holds back what a platform's tool prints at its start, until it is known whether one line can replace it. */
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { writeSync } from 'node:fs'
import { terminal } from '../terminal/terminal.ts'

export interface HeldOutput {
  /** Resolves when the pattern is in the output, while the output is held. */
  contains(pattern: RegExp): Promise<void>
  /** The output that is held now. */
  readonly text: string
  /** Resolves when the output has ended. */
  readonly ended: Promise<unknown>
  /** Passes on the held output and all that follows. */
  release(): void
  /** Drops the held output and all that follows. */
  discard(): void
}

/** Holds the output of a child whose stdout and stderr are pipes. `output` is a file descriptor; by default stderr. */
export function holdOutput(child: ChildProcess, output: number = 2): HeldOutput {
  let held = ''
  let pass = (text: string): void => {
    held += text
  }
  const waiting: { pattern: RegExp; resolve: () => void }[] = []
  const take = (text: string): void => {
    pass(text)
    for (const { pattern, resolve } of waiting) if (pattern.test(held)) resolve()
  }
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', take)
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
    get text() {
      return held
    },
    ended: once(child, 'close'),
    release: () => passTo(write),
    discard: () => passTo(drop),
  }
}

/**
 * Why a server did not load, in its runtime's words: `TypeError: tools.x needs a description`. Undefined if the output has no such
 * line.
 */
export function loadError(output: string): string | undefined {
  const line = /^(?:error: )?(?:Uncaught )?(?:\(in promise\) )?(\w*Error(?: \[\w+\])?: .+)$/m
  return line.exec(output)?.[1]
}
