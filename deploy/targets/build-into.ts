/** Replaces the earlier build, and warns about what may not work after the deployment. */
import { keepsGrantsInMemory, keepsSessions, sourceFiles } from '../build/bundler.ts'
import { buildChecked } from '../build/checked-build.ts'
import { openOutFolder, type Remove } from '../build/out-folder.ts'
import type { Artefact, Project, Target } from '../contract/target.ts'
import { homelessSessions } from '../doctor/findings.ts'
import { refuseFaulty } from '../doctor/load.ts'
import { grantsInMemory } from '../doctor/sign-in.ts'
import { displayPath } from '../project/entry.ts'
import { withProgress } from '../terminal/progress.ts'

/** Sizes above this share of a limit get a warning. */
const NEAR_LIMIT = 0.8

export interface BuildIntoOptions {
  /** Values that are sent to the platform, by name. No built file may contain one of them. */
  readonly secrets?: ReadonlyMap<string, string>
  /** Removes the earlier build. Default: deletes it from the disk. */
  readonly remove?: Remove
}

/**
 * Builds next to `outDir`, then replaces it; until then the earlier build stays. Throws `CliError` if the folder contains anything other
 * than an earlier build, or if the build fails or would contain a secret.
 */
export async function buildInto(
  target: Pick<Target, 'build'>,
  project: Project,
  outDir: string,
  { secrets, remove }: BuildIntoOptions = {},
): Promise<Artefact> {
  const { cwd } = project
  return withProgress(async (show) => {
    show(`loading ${displayPath(project.entry)}`, 'step 1 of 2')
    await refuseFaulty(project, { mustLoad: true })
    const out = openOutFolder({ out: outDir, cwd, sources: await sourceFiles(project) }, remove)
    try {
      show('bundling', 'step 2 of 2')
      const artefact = await buildChecked(target, project, out.staging, { sent: secrets, earlier: outDir })
      out.commit()
      return artefact
    } finally {
      out.discard()
    }
  })
}

export function describeSize({ raw, gzip }: Artefact['size']): string {
  return `${kilobytes(raw)}, ${kilobytes(gzip)} gzipped`
}

/** Warnings about what may not work after the deployment, one line each. */
export async function buildWarnings(artefact: Artefact, target: Target, project: Project): Promise<string[]> {
  const isHomeless = !target.hasOneProcess && (await keepsSessions(project))
  const isForgetful = await keepsGrantsInMemory(project)
  return [
    ...sizeWarnings(artefact, target),
    ...(isHomeless ? [homelessSessions(target)] : []),
    ...(isForgetful ? [grantsInMemory(target)] : []),
  ]
}

/** One line for each limit that is near or exceeded. */
export function sizeWarnings({ size, limits }: Artefact, { title }: Target): string[] {
  return limits.flatMap(({ name, of, bytes, source, checked }) => {
    const used = size[of]
    if (used < bytes * NEAR_LIMIT) return []
    const what = `${kilobytes(used)}${of === 'gzip' ? ' gzipped' : ''}`
    const verdict = used > bytes ? 'is over' : 'is near'
    return `${what} ${verdict} the limit of ${title} (${name}: ${kilobytes(bytes)}, according to ${source} on ${checked}): import less, or load it at run time`
  })
}

/** 1 KB = 1000 bytes. */
function kilobytes(bytes: number): string {
  return `${(bytes / 1000).toLocaleString('en', { maximumFractionDigits: 1 })} KB`
}
