/** Serves the newest build that loads, on one port, through one process a build. */
import { CliError } from '../cli-error.ts'
import type { Front } from '../front.ts'
import type { StartOptions } from '../target.ts'
import { type BuildProcess, startBuild } from './build-process.ts'
import type { Build } from './bundle.ts'

export class ReloadingServer {
  /** Resolves when the first build listens; rejects with `CliError` when it does not. Later ones only report. */
  readonly listening: Promise<void>

  readonly #options: StartOptions
  readonly #front: Front
  readonly #report: (line: string) => void
  /** All that still run: a replaced one finishes its requests. */
  readonly #processes = new Set<BuildProcess>()
  #current: BuildProcess | undefined
  #loading: BuildProcess | undefined
  #newest: Build | undefined
  #turn: Promise<void> | undefined
  #stopping = false
  #settleFirst: { resolve: () => void; reject: (error: unknown) => void } | undefined

  constructor(options: StartOptions, front: Front, report: (line: string) => void) {
    this.#options = options
    this.#front = front
    this.#report = report
    this.listening = new Promise((resolve, reject) => {
      this.#settleFirst = { resolve, reject }
    })
  }

  /** Takes builds one after the other; one that is still loading when the next arrives is given up. */
  take(build: Build): void {
    this.#newest = build
    void this.#loading?.stop()
    this.#turn = (this.#turn ?? Promise.resolve()).then(() => this.#replace(build))
  }

  async stop(): Promise<void> {
    this.#stopping = true
    await Promise.all([...this.#processes].map((running) => running.stop()))
    await this.#turn
  }

  async #replace(build: Build): Promise<void> {
    const superseded = (): boolean => this.#stopping || build !== this.#newest
    if (superseded()) return
    try {
      if (!build.ok) throw build.error
      await this.#serve(this.#start(build.file))
      if (this.#settleFirst) this.#settleFirst.resolve()
      else this.#report('reloaded')
      this.#settleFirst = undefined
    } catch (error) {
      if (!superseded()) this.#fail(error)
    }
  }

  #start(file: string): BuildProcess {
    const started = startBuild(file, this.#options)
    this.#processes.add(started)
    void started.exited.then(async (code) => {
      // What the server itself started ends with it.
      await started.stop()
      this.#processes.delete(started)
      if (started !== this.#current || this.#stopping) return
      this.#current = undefined
      this.#front.refuse()
      this.#fail(new CliError(`the server ended with exit code ${code}: save a file to start it again`))
    })
    return started
  }

  async #serve(next: BuildProcess): Promise<void> {
    this.#loading = next
    if (this.#current === undefined) this.#front.hold()
    let port: number
    try {
      await next.loaded
      port = await next.listen()
    } catch (error) {
      if (this.#current === undefined) this.#front.refuse()
      await next.stop()
      throw error
    } finally {
      this.#loading = undefined
    }
    const previous = this.#current
    this.#current = next
    this.#front.passTo(port)
    await this.#front.answered()
    // It may have ended by itself.
    await previous?.release().catch(() => {})
  }

  #fail(error: unknown): void {
    if (this.#settleFirst) this.#settleFirst.reject(error)
    else if (error instanceof CliError) this.#report(error.message)
    else throw error
    this.#settleFirst = undefined
  }
}
