/** What a platform's own tool prints as it starts: kept back until it is known whether one line says it better. */
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { writeSync } from 'node:fs'
import { terminal } from './terminal.ts'

export interface HeldOutput {
  /** Resolves when the pattern is in the output, as long as it is held. */
  contains(pattern: RegExp): Promise<void>
  /** What is held now. */
  readonly text: string
  /** Resolves when there is no more. */
  readonly ended: Promise<unknown>
  /** Passes on what was held and all that follows. */
  release(): void
  /** Drops what is held and all that follows, for good. */
  discard(): void
}

/** Of a child whose stdout and stderr are pipes. `output` is a file descriptor; by default stderr. */
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
 * Why a server did not load, as its runtime says: `TypeError: tools.x needs a description`. Undefined where the output says no such
 * thing, and where it says more than that.
 */
export function loadError(output: string): string | undefined {
  const line = /^(?:error: )?(?:Uncaught )?(?:\(in promise\) )?(\w*Error(?: \[\w+\])?: .+)$/m
  return line.exec(output)?.[1]
}
