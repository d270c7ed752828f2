/** Going back, and removing a stage, by Netlify's CLI. */
import type { Release, ReleaseOptions, Removal, RollbackOptions } from '../../contract/release.ts'
import { readObject } from '../../contract/secret-store.ts'
import type { DeployStep, Project } from '../../contract/target.ts'
import { CliError } from '../../terminal/cli-error.ts'
import { type GivenDeployment, refuseOfOther } from '../given-deployment.ts'
import { pickOptions } from '../tool-options.ts'
import { apiSite, COMMON_OPTIONS, netlifyPlace } from './place.ts'

/** https://docs.netlify.com/api/get-started/#restore-an-older-deploy: publishes a deploy that was published before. */
export function netlifyRollback(project: Project, { stage, extra, folder, to }: RollbackOptions): Release {
  const place = netlifyPlace(project, { stage, extra })
  const { name, lookUp, env = {} } = place
  if (to === undefined)
    throw new CliError(
      "Netlify must know the deploy: the site's page Deploys shows the id of each, then pass --to <its id>",
    )
  const data = JSON.stringify({ site_id: apiSite(name), deploy_id: to })
  const common = pickOptions(extra, COMMON_OPTIONS)
  const step = { cwd: folder, env }
  const given: GivenDeployment = { to, place, see: "the site's page Deploys" }
  const guard: DeployStep['guard'] = {
    lookUps: [
      {
        ...step,
        title: `look for ${to}`,
        args: ['api', 'getDeploy', '--data', JSON.stringify({ deploy_id: to }), ...common],
      },
      ...(lookUp === undefined ? [] : [lookUp.step]),
    ],
    refuse: ([ofDeploy, ofPlace]) => {
      const [own, of] = [ofPlace, ofDeploy].map((one) => readObject(one?.code === 0 ? one.output : ''))
      refuseOfOther(given, { own: own?.id, of: of?.site_id })
    },
  }
  const args = ['api', 'restoreSiteDeploy', '--data', data, ...common]
  return { loginOptions: common, steps: [{ ...step, title: `go back to ${to}`, args, guard }] }
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
