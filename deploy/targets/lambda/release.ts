/** Removing a stage: its stacks, by the AWS CLI. */
import type { ReleaseOptions, Removal } from '../../contract/release.ts'
import type { DeployStep, Project } from '../../contract/target.ts'
import { pickOptions } from '../tool-options.ts'
import { AWS_OPTIONS, lambdaPlace } from './place.ts'
import { storeGuard } from './secrets.ts'

/** https://docs.aws.amazon.com/cli/latest/reference/cloudformation/delete-stack.html. It succeeds for a stack that does not exist. */
export function lambdaRemoval(project: Project, { stage, extra }: ReleaseOptions): Removal {
  const { name } = lambdaPlace(project, { stage, extra })
  const common = pickOptions(extra, AWS_OPTIONS)
  const { cwd } = project
  // The function's configuration names the secrets, so it goes first.
  const store = `${name}-secrets`
  const guard = storeGuard(store, common, cwd)
  const steps = [name, store].flatMap((stack): DeployStep[] => [
    {
      title: `remove the stack ${stack}`,
      args: ['cloudformation', 'delete-stack', '--stack-name', stack, ...common],
      cwd,
      // Before anything is removed.
      guard,
    },
    {
      title: `wait until ${stack} is removed`,
      args: ['cloudformation', 'wait', 'stack-delete-complete', '--stack-name', stack, ...common],
      cwd,
    },
  ])
  return {
    loginOptions: common,
    confirm: name,
    goes: [
      `the stack ${name}: the function, its URL, its log, its tasks and their queue`,
      `the stack ${store} with the secrets`,
    ],
    stays: [
      "uploaded packages in SAM's bucket",
      'tables, buckets and databases outside of the stack, which may cost',
    ],
    steps,
  }
}
