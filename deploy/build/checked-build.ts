/** One build of one target, which holds no secret. */

import type { Project } from '../contract/target.ts'
import { unpublishable } from '../project/secrets.ts'
import { isSystemError, systemError } from '../terminal/system-error.ts'
import { refuseSecrets } from './secret-search.ts'

/** The part of a `Target` that builds. */
export interface Buildable<Built> {
  build(project: Project, outDir: string, earlier?: string): Promise<Built>
}

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
export async function buildChecked<Built>(
  target: Buildable<Built>,
  project: Project,
  folder: string,
  { sent, earlier }: CheckedBuildOptions = {},
): Promise<Built> {
  const secrets = unpublishable(project, sent)
  try {
    const built = await target.build(project, folder, earlier)
    refuseSecrets(folder, secrets)
    return built
  } catch (error) {
    throw isSystemError(error) ? systemError('the build cannot be written', error) : error
  }
}
