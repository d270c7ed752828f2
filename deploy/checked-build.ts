/** One build of one target, which holds no secret. */
import { refuseSecrets } from './secret-search.ts'
import { unpublishable } from './secrets.ts'
import { isSystemError, systemError } from './system-error.ts'
import type { Artefact, Project, Target } from './target.ts'

export interface CheckedBuildOptions {
  /** Values that are handed to the platform, by name. */
  readonly sent?: ReadonlyMap<string, string> | undefined
  /** The folder that the build will replace. */
  readonly earlier?: string
}

/**
 * Builds into `folder`, which exists and is empty. Throws `CliError` where it cannot be built, and where any of its files would
 * hold a value of the project's files of secrets or of `sent`: the folder must be removed then.
 */
export async function buildChecked(
  target: Pick<Target, 'build'>,
  project: Project,
  folder: string,
  { sent, earlier }: CheckedBuildOptions = {},
): Promise<Artefact> {
  const secrets = unpublishable(project, sent)
  try {
    const artefact = await target.build(project, folder, earlier)
    refuseSecrets(folder, secrets)
    return artefact
  } catch (error) {
    throw isSystemError(error) ? systemError('the build cannot be written', error) : error
  }
}
