/** `mayfly dev` for platforms whose artefact can simply be built and run here: what runs is what would be deployed. */
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { buildChecked } from './checked-build.ts'
import { type RunningLaunch, startLaunch } from './launch.ts'
import { untilAnswers } from './probe.ts'
import { projectName } from './project.ts'
import type { RunningTarget, StartOptions, Target } from './target.ts'
import { watchEntry } from './watch.ts'
import { createWorkFolder } from './work-folder.ts'

/** Builds and runs `target`, and does both again after every change of a file of the server. */
export function artefactDev(target: Pick<Target, 'build' | 'preview'>): Target['start'] {
  return async ({ entry, cwd, port }: StartOptions): Promise<RunningTarget> => {
    const project = { entry, cwd, name: projectName(cwd) }
    const { folder, dispose } = createWorkFolder(cwd, entry)
    let builds = 0
    const build = async (): Promise<string> => {
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
    let outDir = await build()
    const launch = target.preview(outDir, { port, project })
    const path = launch.path ?? '/mcp'
    const ended = new AbortController()
    let current: RunningLaunch = startLaunch(launch)
    let reportExit = (_code: number): void => {}
    const exited = new Promise<number>((resolve) => {
      reportExit = resolve
    })
    const replace = async (): Promise<void> => {
      const next = await build()
      await current.stop()
      if (ended.signal.aborted) return
      rmSync(outDir, { recursive: true, force: true })
      outDir = next
      current = startLaunch(target.preview(next, { port, project }))
      process.stderr.write('mayfly: reloaded\n')
    }
    const watch = await watchEntry(entry, cwd, replace)
    const answers = untilAnswers(`http://127.0.0.1:${port}${path}`, ended.signal)
    return {
      path,
      ready: Promise.race([answers, current.failed]),
      // A server that ends by itself is waited for: the next change may mend it.
      exited,
      stop: async () => {
        ended.abort()
        await watch.dispose()
        await current.stop()
        dispose()
        reportExit(0)
      },
    }
  }
}
