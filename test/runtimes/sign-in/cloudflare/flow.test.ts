/** On workerd, as wrangler builds and runs a Worker, with connections in a Durable Object. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Target } from '../../../../deploy/contract/target.ts'
import { cloudflare } from '../../../../deploy/targets/cloudflare/target.ts'
import { serveArtefact } from '../../_artefact.ts'
import { startInWorkerd } from '../../client/_workerd.ts'
import { CLIENT_HEADERS, clientAt, signInFlow, type Variables } from '../_flow.ts'

/** Workers have variables, and no environment. */
const withVariables = (variables: Variables, storage: string): Pick<Target, 'build' | 'preview'> => ({
  ...cloudflare,
  preview: (outDir, options) => {
    const launch = cloudflare.preview(outDir, options)
    const vars = Object.entries(variables).flatMap(([name, value]) => ['--var', `${name}:${value}`])
    return { ...launch, args: [...launch.args, ...vars, '--persist-to', storage] }
  },
})

signInFlow('workerd', {
  isLasting: true,
  async start(variables, port) {
    const storage = mkdtempSync(join(tmpdir(), 'mayfly-sign-in-'))
    const target = withVariables(variables, storage)
    const { url, stop } = await serveArtefact('server.ts', target, import.meta.dirname, 'notes', port)
    const clear = () => rmSync(storage, { recursive: true, force: true, maxRetries: 5 })
    return { url, stop: () => stop().finally(clear) }
  },
  async startClient() {
    const worker = await startInWorkerd(join(import.meta.dirname, '../_client-worker.ts'))
    const act = clientAt((body) => worker.post({ method: 'POST', headers: CLIENT_HEADERS, body }))
    return { act, stop: worker.stop }
  },
})
