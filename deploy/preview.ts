/** `mayfly preview`: builds, then runs exactly what was built, on the platform's own runtime. */
import { join, resolve } from 'node:path'
import { buildInto } from './build.ts'
import { chooseProject } from './chosen.ts'
import { parseCommand, parsePath, parsePort } from './command-line.ts'
import { serveUntilInterrupted } from './dev.ts'
import { loadEnvFiles } from './env-files.ts'
import { startLaunch } from './launch.ts'
import { freePort } from './port.ts'
import { untilAnswers } from './probe.ts'
import type { Project, RunningTarget, Target } from './target.ts'
import { targetNames } from './targets.ts'

const HELP = `mayfly preview [entry] [--target <name>] [--port <n>] [--path <path>] [--out <folder>]

  entry      the file whose default export is the server; default src/server.ts, server.ts or src/index.ts
  --target   ${targetNames}; default: what package.json says, or the platform's own files
  --port     default 8787 for cloudflare, 3000 for most others; 0 picks a free one
  --path     where the entry answers MCP; default /mcp
  --out      where to build; default dist/<target>

Builds as mayfly build does and runs the very result, without reloading. Prints "ready <url>" on stdout once it answers.

  mayfly preview --target lambda
`

/** Runs until a signal ends it (exit code 0). Throws `CliError`. */
export async function preview(args: string[]): Promise<number> {
  const line = parseCommand('preview', HELP, args, {
    target: { type: 'string' },
    port: { type: 'string' },
    path: { type: 'string' },
    out: { type: 'string' },
  })
  if (line === undefined) return 0
  const { values, positionals } = line
  const wantedPort = values.port === undefined ? undefined : parsePort(values.port)
  const path = values.path === undefined ? undefined : parsePath(values.path)
  const { project, targetName, target } = chooseProject(positionals, values.target)
  const port = await freePort(wantedPort ?? target.defaultPort)
  const outDir = resolve(project.cwd, values.out ?? join('dist', targetName))
  await buildInto(target, project, outDir)
  loadEnvFiles(project)
  return serveUntilInterrupted(() => startPreview(target, project, outDir, { port, path }), port)
}

export interface PreviewRun {
  readonly port: number
  /** Of the MCP endpoint. Default: the platform's own, which is `/mcp` on most. */
  readonly path?: string | undefined
  /** The file descriptor for what it prints. Default stderr. */
  readonly output?: number
}

/** Runs what is in `outDir`. */
export function startPreview(
  target: Pick<Target, 'preview'>,
  project: Project,
  outDir: string,
  { port, path: given, output = 2 }: PreviewRun,
): RunningTarget {
  const launch = target.preview(outDir, { port, project })
  if (launch.note !== undefined) process.stderr.write(`mayfly: ${launch.note}\n`)
  const path = given ?? launch.path ?? '/mcp'
  const running = startLaunch(launch, { project, port, output })
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
