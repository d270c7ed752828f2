/** `mayfly preview`: builds, then runs exactly what was built, on the platform's own runtime. */
import { join, resolve } from 'node:path'
import { buildInto } from './build.ts'
import { oneEntry, parseCommandLine, parsePort } from './command-line.ts'
import { serveUntilInterrupted } from './dev.ts'
import { startLaunch } from './launch.ts'
import { freePort } from './port.ts'
import { untilAnswers } from './probe.ts'
import { readProject } from './project.ts'
import type { Project, RunningTarget, Target } from './target.ts'
import { defaultTarget, findTarget, targetNames } from './targets.ts'

const HELP = `mayfly preview [entry] [--target <name>] [--port <n>] [--out <folder>]

  entry      the file whose default export is the server; default src/server.ts, server.ts or src/index.ts
  --target   ${targetNames}; default cloudflare beside a wrangler configuration, else node
  --port     default 8787 for cloudflare, 3000 for most others; 0 picks a free one
  --out      where to build; default dist/<target>

Builds as mayfly build does and runs the very result, without reloading. Prints "ready <url>" on stdout once it answers.

  mayfly preview --target lambda
`

/** Runs until a signal ends it (exit code 0). Throws `CliError`. */
export async function preview(args: string[]): Promise<number> {
  const { values, positionals } = parseCommandLine('preview', args, {
    target: { type: 'string' },
    port: { type: 'string' },
    out: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  })
  if (values.help) {
    process.stdout.write(HELP)
    return 0
  }
  const cwd = process.cwd()
  const project = readProject(cwd, oneEntry(positionals))
  const targetName = values.target ?? defaultTarget(cwd)
  const target = findTarget(targetName)
  const port = await freePort(values.port === undefined ? target.defaultPort : parsePort(values.port))
  const outDir = resolve(cwd, values.out ?? join('dist', targetName))
  await buildInto(target, project, outDir)
  return serveUntilInterrupted(() => startPreview(target, project, outDir, port), port)
}

/** Runs what is in `outDir`; what it prints goes to the file descriptor `output`. */
export function startPreview(
  target: Pick<Target, 'preview'>,
  project: Project,
  outDir: string,
  port: number,
  output: number = 2,
): RunningTarget {
  const launch = target.preview(outDir, { port, project })
  const path = launch.path ?? '/mcp'
  const running = startLaunch(launch, output)
  const ended = new AbortController()
  const answers = untilAnswers(`http://127.0.0.1:${port}${path}`, ended.signal)
  return {
    path,
    ready: Promise.race([answers, running.failed]).finally(() => ended.abort()),
    exited: running.exited,
    stop: async () => {
      ended.abort()
      await running.stop()
    },
  }
}
