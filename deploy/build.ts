/** `mayfly build`: writes what a platform takes into a folder, and tells its size. */
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join, relative, resolve, sep } from 'node:path'
import { CliError } from './cli-error.ts'
import { oneEntry, parseCommandLine } from './command-line.ts'
import { readProject } from './project.ts'
import type { Artefact, Project, Target } from './target.ts'
import { defaultTarget, findTarget, targetNames } from './targets.ts'

const HELP = `mayfly build [entry] [--target <name>] [--out <folder>] [--json]

  entry      the file whose default export is the server; default src/server.ts, server.ts or src/index.ts
  --target   ${targetNames}; default cloudflare beside a wrangler configuration, else node
  --out      where to write; default dist/<target>. What it held before is removed.
  --json     print { target, out, main, size, limits } as JSON

Prints what it wrote and its size, raw and gzipped; warns when that is near one of the platform's limits.

  mayfly build --target lambda
  mayfly build src/server.ts --target vercel --out build/vercel
`

/** Share of a limit from which on there is a warning. */
const NEAR_LIMIT = 0.8

/** Exit code 0, or 1 with a line on stderr when it cannot be built or is over every limit. Throws `CliError`. */
export async function build(args: string[]): Promise<number> {
  const { values, positionals } = parseCommandLine('build', args, {
    target: { type: 'string' },
    out: { type: 'string' },
    json: { type: 'boolean' },
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
  const outDir = resolve(cwd, values.out ?? join('dist', targetName))
  const artefact = await buildInto(target, project, outDir)
  const out = relative(cwd, outDir)
  process.stdout.write(
    values.json
      ? `${JSON.stringify({ target: targetName, out, ...artefact })}\n`
      : `built ${join(out, artefact.main)}: ${describeSize(artefact.size)}\n`,
  )
  for (const line of sizeWarnings(artefact, target)) process.stderr.write(`mayfly: ${line}\n`)
  return 0
}

/** Empties `outDir` and builds into it. Throws `CliError` for a folder that holds the project. */
export async function buildInto(
  target: Pick<Target, 'build'>,
  project: Project,
  outDir: string,
): Promise<Artefact> {
  refuseFolder(outDir, project)
  // What is in it goes, it stays: a watcher or a shell may be there.
  if (existsSync(outDir)) {
    for (const name of readdirSync(outDir)) rmSync(join(outDir, name), { recursive: true })
  }
  mkdirSync(outDir, { recursive: true })
  return target.build(project, outDir)
}

export function describeSize({ raw, gzip }: Artefact['size']): string {
  return `${kilobytes(raw)}, ${kilobytes(gzip)} gzipped`
}

/** One line a limit that is near or passed. */
export function sizeWarnings({ size, limits }: Artefact, { title }: Target): string[] {
  return limits.flatMap(({ name, of, bytes }) => {
    const used = size[of]
    if (used < bytes * NEAR_LIMIT) return []
    const what = `${kilobytes(used)}${of === 'gzip' ? ' gzipped' : ''}`
    const verdict = used > bytes ? 'is over' : 'is near'
    return `${what} ${verdict} the limit of ${title} (${name}: ${kilobytes(bytes)}): import less, or load it at run time`
  })
}

/** 1 KB = 1000 bytes. */
function kilobytes(bytes: number): string {
  return `${(bytes / 1000).toLocaleString('en', { maximumFractionDigits: 1 })} KB`
}

/** It is emptied: not a folder that holds what the user wrote. */
function refuseFolder(outDir: string, { cwd, entry }: Project): void {
  const holds = (path: string): boolean => path === outDir || path.startsWith(outDir + sep)
  if (!holds(cwd) && !holds(entry) && !existsSync(join(outDir, 'package.json'))) return
  throw new CliError(
    `--out ${outDir} would be emptied, and it holds a project: pass a folder for built files alone`,
  )
}
