/** Going back, and removing a stage, by Vercel's CLI. */
import type { Release, ReleaseOptions, Removal, RollbackOptions } from '../../contract/release.ts'
import { readObject } from '../../contract/secret-store.ts'
import type { DeployStep, Project } from '../../contract/target.ts'
import { CliError } from '../../terminal/cli-error.ts'
import { type GivenDeployment, refuseOfOther } from '../given-deployment.ts'
import { pickOptions } from '../tool-options.ts'
import { linkFolder } from './linked.ts'
import { GLOBAL_OPTIONS, inspected, scopedOptions, vercelPlace } from './place.ts'

/** https://vercel.com/docs/cli/rollback */
export function vercelRollback(project: Project, { stage, extra, folder, to }: RollbackOptions): Release {
  const place = vercelPlace(project, { stage, extra })
  if (to === undefined)
    throw new CliError(
      `Vercel's CLI must know the deployment: npx vercel ls ${place.name} --prod lists them, then pass --to <its URL>`,
    )
  const common = pickOptions(extra, GLOBAL_OPTIONS)
  const { step, link } = linkFolder(project, place, folder)
  const given: GivenDeployment = { to, place, see: `npx vercel ls ${place.name} --prod` }
  const scoped = scopedOptions(extra, place.account)
  const guard: DeployStep['guard'] = {
    lookUps: [
      // `vercel inspect` does not tell the project. An older CLI without `api` takes it for a folder, which is not in an empty one.
      {
        ...step,
        title: `look for ${to}`,
        args: ['api', `/v13/deployments/${encodeURIComponent(hostOf(to))}`, ...scoped],
      },
      ...(place.lookUp === undefined ? [] : [place.lookUp.step]),
    ],
    refuse: ([ofDeployment, ofPlace]) => {
      const { projectId } = readObject(ofDeployment?.code === 0 ? ofDeployment.output : '')
      refuseOfOther(given, { own: ofPlace && inspected(ofPlace).id, of: projectId })
    },
  }
  const back = { ...step, title: `go back to ${to}`, args: ['rollback', to, '--yes', ...scoped], guard }
  return { loginOptions: common, steps: [...(link === undefined ? [] : [link]), back] }
}

/** The id or the host, as the CLI reads it: it takes the project from the deployment, and not from the link. */
function hostOf(to: string): string {
  return to.includes('.') ? to.replace(/^(?:.*?\/\/)?([^/]+).*/, '$1') : to
}

/** https://vercel.com/docs/cli/remove */
export function vercelRemoval(project: Project, { stage, extra, folder }: ReleaseOptions): Removal {
  const { name, account, env = {} } = vercelPlace(project, { stage, extra })
  return {
    loginOptions: pickOptions(extra, GLOBAL_OPTIONS),
    confirm: name,
    goes: ['the project with all its deployments', 'its variables, schedules and domains'],
    stays: ['databases and stores of the Marketplace, which may cost'],
    steps: [
      {
        title: `remove the project ${name}`,
        args: ['remove', name, '--yes', ...scopedOptions(extra, account)],
        cwd: folder,
        env,
      },
    ],
  }
}
