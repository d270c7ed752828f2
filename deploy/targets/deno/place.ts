/** Which app of Deno Deploy a deployment changes. A stage is an app of its own, with its own variables and schedule. */
import type { Place, PlaceOptions } from '../../contract/place.ts'
import type { Project } from '../../contract/target.ts'
import { declaration, declaredPlace, refuseShared } from '../../project/stages.ts'
import { optionValue, refusePlaceOptions } from '../tool-options.ts'

/** What `deno deploy create` and `switch` write into deno.json. */
export interface DeployConfig {
  readonly org?: string
  readonly app?: string
}

/**
 * The app: from the options after `--` or the environment, otherwise from the configuration, otherwise the project's name in the user's only
 * organization. Throws `CliError` if a stage would be production's app.
 */
export function denoPlace(
  project: Project,
  { stage, extra = [] }: PlaceOptions,
  configured: DeployConfig,
): Place {
  refusePlaceOptions(stage, extra, ['--app', '--prod'])
  // GitHub passes an unset variable as an empty one.
  const { DENO_DEPLOY_ORG, DENO_DEPLOY_APP } = process.env
  const org = optionValue(extra, ['--org']) ?? (DENO_DEPLOY_ORG || configured.org)
  const given = optionValue(extra, ['--app'])
  const own = given ?? (DENO_DEPLOY_APP || configured.app)
  const declared = stage === undefined ? undefined : declaredPlace(project, stage, 'deno')
  const name = stage === undefined ? (own ?? project.name) : (declared ?? `${own ?? project.name}-${stage}`)
  refuseShared([name], { project, target: 'deno', stage, production: [own ?? project.name] })
  const productionBy =
    own && (given !== undefined ? '--app' : DENO_DEPLOY_APP ? 'DENO_DEPLOY_APP' : 'deno.json')
  return {
    stage,
    kind: 'app',
    name,
    account: org,
    namedBy: stage === undefined ? productionBy : declared && 'package.json',
    claim:
      stage === undefined
        ? `set DENO_DEPLOY_APP, or "deploy": { "app": "${name}" } in deno.json`
        : `write ${declaration(stage, 'deno', name)}`,
    options: [...(org === undefined ? [] : ['--org', org]), '--app', name],
  }
}
