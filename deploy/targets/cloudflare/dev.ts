/** `mayfly dev --target cloudflare`: runs the project's own wrangler on workerd, offline. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type EntryWatch, watchEntry } from '../../build/watch.ts'
import { createWorkFolder } from '../../build/work-folder.ts'
import type { RunningTarget, StartOptions } from '../../contract/target.ts'
import { refuseFaulty } from '../../doctor/load.ts'
import { displayPath, noFetch } from '../../project/entry.ts'
import { watchEnvFiles } from '../../project/env-files.ts'
import { projectName } from '../../project/project.ts'
import { holdOutput } from '../../run/held-output.ts'
import { freePort } from '../../run/port.ts'
import { untilAnswers } from '../../run/probe.ts'
import { startProcessGroup } from '../../run/process-group.ts'
import { undecorated } from '../../run/server-error.ts'
import { WATCHER } from '../../run/watcher.ts'
import { CliError, printable } from '../../terminal/cli-error.ts'
import { terminal } from '../../terminal/terminal.ts'
import { wranglerConfig } from './config.ts'
import { checkWorkerEntry } from './entry-check.ts'
import { devArgs, OFFLINE, wranglerBin } from './wrangler.ts'

/** workerd's message for a default export that is not a handler, at start or at the first request. */
const NO_HANDLER = /does not export a fetch\(\) function|ExportedHandler|null \(reading 'fetch'\)/

/** workerd's message for a module that throws while loading. */
const LOAD_FAILED = /service core:user:\S+: Uncaught (\w*Error: [^\p{Cc}]+)/u

/** Wrangler's message when requests reach the changed code. */
const RELOADED = /Local server updated and ready/

/** `[wrangler:info] POST /mcp 200 OK (5ms)` */
const REQUEST = /^\[wrangler:info\] ([A-Z]+) (\S+) (\d{3}) .*\(\d+ms\)\s*$/

/** After these messages wrangler waits for a change; at startup it would wait silently. */
const BUILD_FAILED = /Build failed with \d+ error/

interface Wrangler {
  /** Resolves once the server answers. Rejects with `CliError`. */
  readonly ready: RunningTarget['ready']
  readonly exited: Promise<number>
  stop(): Promise<void>
}

/**
 * Wrangler itself watches, bundles and reloads. It reads variables only when it starts, so it is started again when they change, and, if it
 * has ended by itself, when a file changes.
 */
export async function startDev(options: StartOptions): Promise<RunningTarget> {
  const { entry, cwd, path = '/mcp', stage, onReload, onRefused, onServerError } = options
  const bin = wranglerBin(cwd)
  await checkWorkerEntry(entry, cwd)
  const port = await freePort(options.port)
  const project = { entry, cwd, name: projectName(cwd, entry), stage }
  const config = wranglerConfig(cwd)
  const watched = watchedEntry(entry, cwd)
  const args = (): string[] => [bin, 'dev', watched.file, ...config.args, ...devArgs(port, project)]
  const start = (): Wrangler =>
    startWrangler(args(), {
      entry,
      cwd,
      url: `http://127.0.0.1:${port}${path}`,
      onReload,
      onRefused,
      onServerError,
    })
  let reportExit = (_code: number): void => {}
  const exited = new Promise<number>((resolve) => {
    reportExit = resolve
  })
  let isStopped = false
  let current: Wrangler | undefined
  let watch: EntryWatch | undefined
  const follow = (wrangler: Wrangler): Wrangler => {
    current = wrangler
    let wasReady = false
    wrangler.ready.then(
      () => {
        wasReady = true
      },
      () => {},
    )
    void wrangler.exited.then((code) => {
      if (wrangler !== current || isStopped) return
      if (wasReady) untilChanged(code).catch(() => reportExit(code))
      else if (watch === undefined) reportExit(code)
    })
    return wrangler
  }
  /** Wrangler ends itself if the Worker throws while it loads: the next change may mend that. Rejects if changes cannot be noticed. */
  const untilChanged = async (code: number): Promise<void> => {
    watch ??= await watchEntry(entry, cwd, onceChanged, { isBuiltElsewhere: true })
    if (isStopped) return watch.dispose()
    const { message } = await refuseFaulty(project, { mustLoad: true }).then(
      () => new CliError(`wrangler stopped with exit code ${code}: see its output above`),
      (error: CliError) => error,
    )
    onRefused?.([message])
    terminal.warn(`${message}; save a file to start it again`)
  }
  const onceChanged = async (): Promise<void> => {
    await startAgain()
    const done = watch
    watch = undefined
    void done?.dispose()
  }
  const startAgain = async (): Promise<void> => {
    const previous = current
    current = undefined
    await previous?.stop()
    if (isStopped) return
    await follow(start()).ready
    terminal.note('reloaded')
    onReload?.()
  }
  const { ready } = follow(start())
  let restarts = Promise.resolve()
  let variables: { close(): void } | undefined
  void ready.then(
    () => {
      if (isStopped) return
      variables = watchEnvFiles(project, () => {
        restarts = restarts.then(startAgain).catch((error) => {
          if (!isStopped) terminal.fail(error)
        })
      })
    },
    () => {},
  )
  return {
    port,
    path,
    ready,
    exited,
    stop: async () => {
      isStopped = true
      variables?.close()
      const unwatched = watch?.dispose()
      await current?.stop()
      await unwatched
      await restarts
      config.dispose()
      watched.dispose()
    },
  }
}

/** Wrangler loads nothing before a Worker, so that a module around it does. */
function watchedEntry(entry: string, cwd: string): { readonly file: string; dispose(): void } {
  const { folder, dispose } = createWorkFolder(cwd, 'worker')
  const file = join(folder, 'worker.js')
  const [watcher, own] = [WATCHER, entry].map((path) => JSON.stringify(path))
  const code = `import { watchRepeatedWork } from ${watcher}
watchRepeatedWork()
export * from ${own}
export { default } from ${own}
`
  writeFileSync(file, code)
  return { file, dispose }
}

function loadFailure(entry: string, text: string): string {
  const [, reason = ''] = LOAD_FAILED.exec(text) ?? []
  return `${displayPath(entry)} cannot be loaded: ${printable(reason)}`
}

/** As `mayfly` writes them, from what wrangler prints, whose columns count from 0. */
function buildErrorsIn(text: string): string[] {
  const found = undecorated(text).matchAll(/^ +✘ \[ERROR\] (.+)\n\s*\n +(\S+):(\d+):(\d+):$/gm)
  const errors = [...found].map(
    ([, message, file, line, column]) => `${file}:${line}:${Number(column) + 1}: ${message}`,
  )
  return errors.length > 0 ? errors : ['wrangler cannot build it: see the terminal']
}

function startWrangler(
  args: string[],
  {
    entry,
    cwd,
    url,
    onReload,
    onRefused,
    onServerError,
  }: Pick<StartOptions, 'entry' | 'cwd' | 'onReload' | 'onRefused' | 'onServerError'> & {
    readonly url: string
  },
): Wrangler {
  const env = { ...process.env, ...OFFLINE }
  const group = startProcessGroup(args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const output = holdOutput(group.child, { echo: REQUEST, onServerError })
  output.follow(RELOADED, () => onReload?.())
  output.follow(BUILD_FAILED, (text) => onRefused?.(buildErrorsIn(text)))
  output.follow(LOAD_FAILED, (text) => onRefused?.([loadFailure(entry, text)]))

  const ended = new AbortController()
  const failed = Promise.race([
    output.contains(NO_HANDLER).then(() => {
      output.discard()
      throw noFetch(entry)
    }),
    output.contains(LOAD_FAILED).then(() => {
      const message = loadFailure(entry, output.text)
      output.discard()
      throw new CliError(message)
    }),
    output.contains(BUILD_FAILED).then(() => {
      throw new CliError(`wrangler cannot build ${displayPath(entry)}: see its output above`)
    }),
    group.exited.then(async (code) => {
      // Processes that outlive wrangler keep its pipes open, and the error may still be unread.
      await group.stop()
      await output.ended
      output.release()
      throw new CliError(
        `wrangler stopped with exit code ${code} before the server answered: see its output above`,
      )
    }),
  ])
  const answers = untilAnswers(url, ended.signal)
  const ready = Promise.race([answers, failed]).finally(() => {
    ended.abort()
    output.release()
  })
  ready.catch(() => {})
  return {
    ready,
    exited: group.exited,
    stop: async () => {
      ended.abort()
      output.discard()
      await group.stop()
    },
  }
}
