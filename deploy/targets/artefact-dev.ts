/** `mayfly dev` for platforms whose build runs locally: it runs the same build that would be deployed. */
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Buildable, buildChecked } from '../build/checked-build.ts'
import { type Change, watchEntry } from '../build/watch.ts'
import { createWorkFolder } from '../build/work-folder.ts'
import type { Launch, Project, RunningTarget, StartOptions, Target } from '../contract/target.ts'
import { refuseFaulty } from '../doctor/load.ts'
import { watchEnvFiles } from '../project/env-files.ts'
import { projectName } from '../project/project.ts'
import { type Front, startFront } from '../run/front.ts'
import { type RunningLaunch, startLaunch } from '../run/launch.ts'
import { freePort } from '../run/port.ts'
import { untilAnswers } from '../run/probe.ts'
import { reloadedLine } from '../run/reloaded-line.ts'
import { terminal } from '../terminal/terminal.ts'

type Runnable = Buildable<unknown> & Pick<Target, 'preview'>

/** Builds and runs `target`, and does both again after every change to the server's files. */
export function artefactDev(target: Runnable): Target['start'] {
  return async ({
    entry,
    cwd,
    port,
    path: given,
    stage,
    tools,
    onReload,
    onRefused,
    onServerError,
  }: StartOptions): Promise<RunningTarget> => {
    const project = { entry, cwd, name: projectName(cwd, entry), stage }
    const { folder, dispose } = createWorkFolder(cwd, entry)
    const nextBuild = builder(target, project, folder)
    const first = await prepare(target, project, await nextBuild())
    if (first.launch.note !== undefined) terminal.note(first.launch.note)
    const path = given ?? first.launch.path ?? '/mcp'
    const front = await startFront(port)
    const servers = new Servers(front, onServerError)
    const firstOutdated = new AbortController()
    const started = servers.replaceWith(first, firstOutdated.signal)
    const ready = Promise.race([
      untilAnswers(`http://127.0.0.1:${front.port}${path}`, servers.stopping),
      // If it ends before it answers, the command ends.
      started.then((server) => server?.failed ?? new Promise<never>(() => {})),
    ])
    ready.catch(() => {})
    let lastTools = tools
    const reload = async (outdated: AbortSignal, { files, noticedAt }: Change): Promise<void> => {
      const [outDir, { tools: nextTools }] = await Promise.all([
        nextBuild(),
        refuseFaulty(project, { signal: outdated, startsWith: 'the variables of this machine' }),
      ])
      const next = await prepare(target, project, outDir)
      firstOutdated.abort()
      const server = await servers.replaceWith(next, outdated)
      if (server === undefined) return
      const ms = performance.now() - noticedAt
      terminal.note(reloadedLine({ files, ms, tools: nextTools, before: lastTools }))
      lastTools = nextTools
      onReload?.()
      server.failed.catch(reportEnd)
    }
    const watch = await watchEntry(entry, cwd, reload, {
      onReported: ({ lines }) => {
        onRefused?.(lines)
        if (servers.isUp) terminal.warn('the server from before this change goes on')
        else if (!servers.isStarting) terminal.warn('no server runs: save a file to start it again')
      },
    })
    const variables = watchEnvFiles(project, watch.changed)
    void Promise.all([started, ready]).then(
      ([server]) => server?.failed.catch(reportEnd),
      () => {},
    )
    let reportExit = (_code: number): void => {}
    const exited = new Promise<number>((resolve) => {
      reportExit = resolve
    })
    return {
      port: front.port,
      path,
      ready,
      // After a server ends by itself, the command waits: the next change may fix it.
      exited,
      stop: async () => {
        variables.close()
        const stopped = servers.stop()
        await Promise.all([front.close(stopped), watch.dispose(), stopped])
        dispose()
        reportExit(0)
      },
    }
  }
}

function reportEnd(error: Error): void {
  terminal.warn(`${error.message}; save a file to start it again`)
}

/** Each build has its own folder, since the previous server may still read its files. */
function builder(target: Runnable, project: Project, folder: string): () => Promise<string> {
  let builds = 0
  return async () => {
    const outDir = join(folder, String(++builds))
    mkdirSync(outDir, { recursive: true })
    try {
      await buildChecked(target, project, outDir)
      return outDir
    } catch (error) {
      rmSync(outDir, { recursive: true, force: true })
      throw error
    }
  }
}

interface Prepared {
  readonly launch: Launch
  readonly port: number
  readonly project: Project
  readonly outDir: string
}

async function prepare(target: Runnable, project: Project, outDir: string): Promise<Prepared> {
  const port = await freePort(0)
  return { launch: target.preview(outDir, { port, project }), port, project, outDir }
}

interface Run {
  readonly server: RunningLaunch
  readonly outDir: string
}

/** Successive servers behind one port. */
class Servers {
  readonly #front: Front
  readonly #stopping = new AbortController()
  /** All servers that still run: a replaced one finishes its requests. */
  readonly #running = new Set<Run>()
  #current: Run | undefined

  readonly #onServerError: StartOptions['onServerError']

  constructor(front: Front, onServerError: StartOptions['onServerError']) {
    this.#front = front
    this.#onServerError = onServerError
  }

  /** Whether one of them takes requests. */
  get isUp(): boolean {
    return this.#current !== undefined
  }

  /** Whether one may take requests soon. */
  get isStarting(): boolean {
    return this.#running.size > 0
  }

  /** Aborts when `stop` is called. */
  get stopping(): AbortSignal {
    return this.#stopping.signal
  }

  /**
   * Starts the next server while the last one keeps running, and switches to it once it accepts connections. Rejects with `CliError` if it
   * does not. Undefined if all were stopped in the meantime, or if `outdated` aborts: a server that never accepts connections must not
   * block the next one.
   */
  async replaceWith(
    { launch, outDir, ...options }: Prepared,
    outdated: AbortSignal,
  ): Promise<RunningLaunch | undefined> {
    const unwanted = AbortSignal.any([this.stopping, outdated])
    if (unwanted.aborted) {
      rmSync(outDir, { recursive: true, force: true })
      return undefined
    }
    if (this.#current === undefined) this.#front.hold()
    const onServerError = this.#onServerError
    const next: Run = { server: startLaunch(launch, { ...options, onServerError }), outDir }
    this.#running.add(next)
    const giveUp = (): void => void next.server.stop()
    unwanted.addEventListener('abort', giveUp, { once: true })
    try {
      await next.server.listening
      unwanted.throwIfAborted()
    } catch (error) {
      await this.#end(next)
      if (unwanted.aborted) return undefined
      if (this.#current === undefined) this.#front.refuse()
      throw error
    } finally {
      unwanted.removeEventListener('abort', giveUp)
    }
    const previous = this.#current
    this.#current = next
    this.#front.passTo(options.port)
    next.server.failed.catch(() => this.#lose(next))
    if (previous !== undefined) void this.#front.answered().then(() => this.#end(previous))
    return next.server
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await Promise.all([...this.#running].map((run) => this.#end(run)))
  }

  /** Whether it ended by itself. */
  #lose(run: Run): void {
    if (run === this.#current) {
      this.#current = undefined
      this.#front.refuse()
    }
    void this.#end(run)
  }

  async #end(run: Run): Promise<void> {
    await run.server.stop()
    rmSync(run.outDir, { recursive: true, force: true })
    this.#running.delete(run)
  }
}
