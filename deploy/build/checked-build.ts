/** Builds one target and refuses a build that contains a secret. */

import type { Project } from '../contract/target.ts'
import { unpublishable } from '../project/secrets.ts'
import { isSystemError, systemError } from '../terminal/system-error.ts'
import { refuseSecrets } from './secret-search.ts'

/** The part of a `Target` that builds. */
export interface Buildable<Built> {
  build(project: Project, outDir: string, earlier?: string): Promise<Built>
}

export interface CheckedBuildOptions {
  /** Values that are sent to the platform, by name. */
  readonly sent?: ReadonlyMap<string, string> | undefined
  /** The folder that the build will replace. */
  readonly earlier?: string
}

/**
 * Builds into `folder`, which exists and is empty. Throws `CliError` if the build fails, or if one of its files contains a value from the
 * project's secret files or from `sent`. The caller must then remove the folder.
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
