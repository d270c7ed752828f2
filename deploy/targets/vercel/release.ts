/** Going back, and removing a stage, by Vercel's CLI. */
import type { Release, ReleaseOptions, Removal, RollbackOptions } from '../../contract/release.ts'
import type { Project } from '../../contract/target.ts'
import { CliError } from '../../terminal/cli-error.ts'
import { pickOptions } from '../tool-options.ts'
import { linkFolder } from './linked.ts'
import { GLOBAL_OPTIONS, scopedOptions, vercelPlace } from './place.ts'

/** https://vercel.com/docs/cli/rollback */
export function vercelRollback(project: Project, { stage, extra, folder, to }: RollbackOptions): Release {
  const place = vercelPlace(project, { stage, extra })
  if (to === undefined)
    throw new CliError(
      `Vercel's CLI must know the deployment: npx vercel ls ${place.name} --prod lists them, then pass --to <its URL>`,
    )
  const common = pickOptions(extra, GLOBAL_OPTIONS)
  const { step, link } = linkFolder(project, place, folder)
  const back = { ...step, title: `go back to ${to}`, args: ['rollback', to, '--yes', ...common] }
  return { loginOptions: common, steps: [...(link === undefined ? [] : [link]), back] }
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
