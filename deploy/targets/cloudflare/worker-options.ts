/** Options that make wrangler's commands work on a deployed Worker. */
import type { PlaceOptions } from '../../contract/place.ts'
import type { DeployStep, Project } from '../../contract/target.ts'
import { findWranglerConfig } from './config.ts'
import { cloudflarePlace } from './place.ts'

export interface WorkerOptions {
  readonly options: readonly string[]
  readonly step: Pick<DeployStep, 'cwd' | 'env'>
}

export function workerOptions(project: Project, { stage, extra = [] }: PlaceOptions): WorkerOptions {
  const { name, options, env, namedBy } = cloudflarePlace(project, { stage, extra })
  const config = findWranglerConfig(project.cwd)
  const named = namedBy === undefined && options.length === 0 ? ['--name', name] : options
  return {
    options: [...(config === undefined ? [] : ['--config', config]), ...named, ...extra],
    step: { cwd: project.cwd, ...(env && { env }) },
  }
}
