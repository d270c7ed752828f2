/** `mayfly dev --target cloudflare`: the project's own wrangler, on workerd, offline. */
import { once } from 'node:events'
import { CliError } from '../cli-error.ts'
import { noFetch, shown } from '../entry.ts'
import { untilAnswers } from '../probe.ts'
import { type ProcessGroup, startProcessGroup } from '../process-group.ts'
import type { RunningTarget, StartOptions } from '../target.ts'
import { wranglerConfig } from './config.ts'
import { checkWorkerEntry } from './entry-check.ts'
import { devArgs, OFFLINE, wranglerBin } from './wrangler.ts'

/** What workerd says of a default export that is no handler, at start or at the first request. */
const NO_HANDLER = /does not export a fetch\(\) function|ExportedHandler|null \(reading 'fetch'\)/

/** Wrangler then waits for a change. At the start that would be a silent wait. */
const BUILD_FAILED = /Build failed with \d+ error/

/** Wrangler itself watches, bundles and reloads. */
export async function startDev({ entry, cwd, port }: StartOptions): Promise<RunningTarget> {
  const bin = wranglerBin(cwd)
  await checkWorkerEntry(entry, cwd)
  const config = wranglerConfig(cwd)
  const args = [bin, 'dev', entry, ...config.args, ...devArgs(port)]
  const env = { ...process.env, ...OFFLINE }
  const group = startProcessGroup(args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const output = holdOutput(group)

  const ended = new AbortController()
  const failed = Promise.race([
    output.contains(NO_HANDLER).then(() => {
      output.discard()
      throw noFetch(entry)
    }),
    output.contains(BUILD_FAILED).then(() => {
      throw new CliError(`wrangler cannot build ${shown(entry)}: see its output above`)
    }),
    group.exited.then(async (code) => {
      // Processes that outlive wrangler keep its pipes open, and the reason may still be in there.
      await group.stop()
      await output.ended
      output.release()
      throw new CliError(
        `wrangler stopped with exit code ${code} before the server answered: see its output above`,
      )
    }),
  ])
  const answers = untilAnswers(`http://127.0.0.1:${port}/mcp`, ended.signal)
  const ready = Promise.race([answers, failed]).finally(() => {
    ended.abort()
    output.release()
  })
  return {
    ready,
    exited: group.exited,
    stop: async () => {
      ended.abort()
      output.discard()
      await group.stop()
      config.dispose()
    },
  }
}

interface HeldOutput {
  /** Resolves when the pattern is in the output, as long as it is held. */
  contains(pattern: RegExp): Promise<void>
  /** Resolves when there is no more. */
  ended: Promise<unknown>
  /** Passes on what was held and all that follows, to stderr. */
  release(): void
  /** Drops what is held and all that follows, for good. */
  discard(): void
}

/** Keeps wrangler's output back until it is known whether one line says it better. */
function holdOutput({ child }: ProcessGroup): HeldOutput {
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
  return {
    contains: (pattern) => new Promise((resolve) => waiting.push({ pattern, resolve })),
    ended: once(child, 'close'),
    release: () => passTo((text) => process.stderr.write(text)),
    discard: () => passTo(drop),
  }
}
