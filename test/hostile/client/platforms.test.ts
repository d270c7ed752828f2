import type { Target } from '../../../deploy/contract/target.ts'
import { bun } from '../../../deploy/targets/bun/target.ts'
import { deno } from '../../../deploy/targets/deno/target.ts'
import { node } from '../../../deploy/targets/node/target.ts'
import { vercelEdge } from '../../../deploy/targets/vercel/target.ts'
import { serveArtefact } from '../../runtimes/_artefact.ts'
import type { RunningWorker } from '../../runtimes/client/_scenarios.ts'
import { hostileScenarios } from './_scenarios.ts'

async function start(target: Pick<Target, 'build' | 'preview'>): Promise<RunningWorker> {
  const { url, stop } = await serveArtefact('test/hostile/client/_worker.ts', target)
  return { post: (init) => fetch(url, init), stop }
}

hostileScenarios('Node', () => start(node))
hostileScenarios('Deno', () => start(deno))
hostileScenarios('bun', () => start(bun))
hostileScenarios('Vercel’s edge-runtime', () => start(vercelEdge))
