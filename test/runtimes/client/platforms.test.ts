/** On the other platforms, each built by its own target and run on its own runtime. */

import type { Target } from '../../../deploy/contract/target.ts'
import { bun } from '../../../deploy/targets/bun/target.ts'
import { deno } from '../../../deploy/targets/deno/target.ts'
import { node } from '../../../deploy/targets/node/target.ts'
import { vercelEdge } from '../../../deploy/targets/vercel/target.ts'
import { serveArtefact } from '../_artefact.ts'
import { clientScenarios, type RunningWorker } from './_scenarios.ts'

async function start(target: Pick<Target, 'build' | 'preview'>): Promise<RunningWorker> {
  const { url, stop } = await serveArtefact('test/runtimes/client/_worker.ts', target)
  return { post: (init) => fetch(url, init), stop }
}

clientScenarios('Node', () => start(node))
clientScenarios('Deno', () => start(deno))
clientScenarios('bun', () => start(bun))
// It has no `MessageEvent`, which the official transport is built on.
clientScenarios('Vercel’s edge-runtime', () => start(vercelEdge), { lacks: ['HTTP+SSE'] })
