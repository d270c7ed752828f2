/** Going back, and removing a stage, by wrangler. */
import type { Release, ReleaseOptions, Removal, RollbackOptions } from '../../contract/release.ts'
import type { Project } from '../../contract/target.ts'
import { cloudflarePlace, storesOfStage } from './place.ts'
import { workerOptions } from './worker-options.ts'

/** https://developers.cloudflare.com/workers/wrangler/commands/#rollback */
export function cloudflareRollback(project: Project, { stage, extra, to }: RollbackOptions): Release {
  const { options, step } = workerOptions(project, { stage, extra })
  return {
    steps: [
      {
        ...step,
        title: to === undefined ? 'go back to the version before' : `go back to ${to}`,
        args: [
          'rollback',
          ...(to === undefined ? [] : [to]),
          ...['--message', 'mayfly rollback', '--yes'],
          ...options,
        ],
      },
    ],
  }
}

/** https://developers.cloudflare.com/workers/wrangler/commands/#delete */
export function cloudflareRemoval(project: Project, { stage, extra }: ReleaseOptions): Removal {
  const { name } = cloudflarePlace(project, { stage, extra })
  const { options, step } = workerOptions(project, { stage, extra })
  const stores = storesOfStage(project, stage)
  return {
    confirm: name,
    goes: ['the Worker with its secrets and schedules', 'its Durable Objects with what they store'],
    stays: [
      ...(stores.length > 0 ? stores : ['KV namespaces, D1 databases, R2 buckets and queues']),
      'routes in zones of other accounts',
    ],
    steps: [{ ...step, title: `remove the Worker ${name}`, args: ['delete', ...options] }],
  }
}
