import { bun } from '../../../deploy/bun/target.ts'
import { deno } from '../../../deploy/deno/target.ts'
import { node } from '../../../deploy/node/target.ts'
import type { Target } from '../../../deploy/target.ts'
import { vercelEdge } from '../../../deploy/vercel/target.ts'
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
