/** A build in the place of the earlier one, and what may not work once it is deployed. */
import { keepsSessions, sourceFiles } from '../build/bundler.ts'
import { buildChecked } from '../build/checked-build.ts'
import { openOutFolder, type Remove } from '../build/out-folder.ts'
import type { Artefact, Project, Target } from '../contract/target.ts'
import { homelessSessions } from '../doctor/findings.ts'
import { refuseFaulty } from '../doctor/load.ts'

/** Sizes above this share of a limit get a warning. */
const NEAR_LIMIT = 0.8

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
