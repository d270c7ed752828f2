/** Going back, and removing a stage, by Netlify's CLI. */
import type { Release, ReleaseOptions, Removal, RollbackOptions } from '../../contract/release.ts'
import type { Project } from '../../contract/target.ts'
import { CliError } from '../../terminal/cli-error.ts'
import { pickOptions } from '../tool-options.ts'
import { apiSite, COMMON_OPTIONS, netlifyPlace } from './place.ts'

/** https://docs.netlify.com/api/get-started/#restore-an-older-deploy: publishes a deploy that was published before. */
export function netlifyRollback(project: Project, { stage, extra, folder, to }: RollbackOptions): Release {
  const { name } = netlifyPlace(project, { stage, extra })
  if (to === undefined)
    throw new CliError(
      "Netlify must know the deploy: the site's page Deploys shows the id of each, then pass --to <its id>",
    )
  const data = JSON.stringify({ site_id: apiSite(name), deploy_id: to })
  const common = pickOptions(extra, COMMON_OPTIONS)
  const args = ['api', 'restoreSiteDeploy', '--data', data, ...common]
  return {
    loginOptions: common,
    steps: [{ title: `go back to ${to}`, args, cwd: folder, env: { NETLIFY_SITE_ID: '' } }],
  }
}

/** https://docs.netlify.com/api/get-started/#sites */
export function netlifyRemoval(project: Project, { stage, extra, folder }: ReleaseOptions): Removal {
  const { name } = netlifyPlace(project, { stage, extra })
  const common = pickOptions(extra, COMMON_OPTIONS)
  const data = JSON.stringify({ site_id: apiSite(name) })
  return {
    loginOptions: common,
    confirm: name,
    goes: ['the site with all its deploys', 'its variables, schedules, Blobs and domains'],
    stays: ['databases outside of Netlify, which may cost'],
    steps: [
      {
        title: `remove the site ${name}`,
        args: ['api', 'deleteSite', '--data', data, ...common],
        cwd: folder,
        env: { NETLIFY_SITE_ID: '' },
      },
    ],
  }
}
