/** `mayfly build`: writes what a platform accepts into a folder, and reports its size. */
import { join, relative } from 'node:path'
import { keepsSessions, sourceFiles } from './bundler.ts'
import { buildChecked } from './checked-build.ts'
import { printable } from './cli-error.ts'
import { homelessSessions } from './doctor/findings.ts'
import { refuseFaulty } from './doctor/load.ts'
import { openOutFolder, type Remove } from './out-folder.ts'
import { COMMON_HELP, outFolder, projectCommand } from './project-command.ts'
import type { Artefact, Project, Target } from './target.ts'
import { terminal } from './terminal.ts'

const HELP = `mayfly build [entry] [--target <name>] [--out <folder>] [--json] [--quiet]

${COMMON_HELP}
  --out      where to write; default dist/<target>. What an earlier build left there is replaced.
  --json     print { target, out, main, size, limits } as JSON

Prints what it wrote and its size, raw and gzipped; warns when that is near one of the platform's limits.

  mayfly build --target lambda
  mayfly build --target mcpb                (a desktop bundle: see mayfly build --target mcpb --help)
  mayfly build src/server.ts --target vercel --out build/vercel
`

/** Sizes above this share of a limit get a warning. */
const NEAR_LIMIT = 0.8

/** Exit code 0, even if the build is over a limit: the user's plan is not known. Throws `CliError` if the build fails. */
export const build = projectCommand({
  name: 'build',
  help: HELP,
  options: { out: { type: 'string' }, json: { type: 'boolean' } },
  run: async (chosen, values) => {
    const { project, targetName, target } = chosen
    const outDir = outFolder(chosen, values.out)
    const artefact = await buildInto(target, project, outDir)
    const out = relative(project.cwd, outDir)
    process.stdout.write(
      values.json
        ? `${JSON.stringify({ target: targetName, out, ...artefact })}\n`
        : `built ${printable(join(out, artefact.main))}: ${describeSize(artefact.size)}\n`,
    )
    for (const line of await buildWarnings(artefact, target, project)) terminal.warn(line)
    return 0
  },
})

export interface BuildIntoOptions {
  /** Values that are handed to the platform, by name: none of them may be in a built file either. */
  readonly secrets?: ReadonlyMap<string, string>
  /** Removes what an earlier build has left. Default: deletes it from the disk. */
  readonly remove?: Remove
}

/**
 * Builds beside `outDir` and puts the result in its place: what was there stays until then. Throws `CliError` for a folder that
 * holds anything but an earlier build, and for a build that fails or would hold a secret.
 */
export async function buildInto(
  target: Pick<Target, 'build'>,
  project: Project,
  outDir: string,
  { secrets, remove }: BuildIntoOptions = {},
): Promise<Artefact> {
  const { cwd } = project
  await refuseFaulty(project)
  const out = openOutFolder({ out: outDir, cwd, sources: await sourceFiles(project) }, remove)
  try {
    const artefact = await buildChecked(target, project, out.staging, { sent: secrets, earlier: outDir })
    out.commit()
    return artefact
  } finally {
    out.discard()
  }
}

export function describeSize({ raw, gzip }: Artefact['size']): string {
  return `${kilobytes(raw)}, ${kilobytes(gzip)} gzipped`
}

/** What may not work once it is deployed, one line each. */
export async function buildWarnings(artefact: Artefact, target: Target, project: Project): Promise<string[]> {
  const isHomeless = !target.hasOneProcess && (await keepsSessions(project))
  return [...sizeWarnings(artefact, target), ...(isHomeless ? [homelessSessions(target)] : [])]
}

/** One line for each limit that is near or exceeded. */
export function sizeWarnings({ size, limits }: Artefact, { title }: Target): string[] {
  return limits.flatMap(({ name, of, bytes, source, checked }) => {
    const used = size[of]
    if (used < bytes * NEAR_LIMIT) return []
    const what = `${kilobytes(used)}${of === 'gzip' ? ' gzipped' : ''}`
    const verdict = used > bytes ? 'is over' : 'is near'
    return `${what} ${verdict} the limit of ${title} (${name}: ${kilobytes(bytes)}, as ${source} said on ${checked}): import less, or load it at run time`
  })
}

/** 1 KB = 1000 bytes. */
function kilobytes(bytes: number): string {
  return `${(bytes / 1000).toLocaleString('en', { maximumFractionDigits: 1 })} KB`
}
