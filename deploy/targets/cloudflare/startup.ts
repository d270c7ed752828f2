/** Measures with wrangler how long a built Worker takes to start: Cloudflare refuses an upload that takes too long. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createTempFolder } from '../../build/work-folder.ts'
import { FACTS, shownValue } from '../../contract/facts.ts'
import { startProcessGroup } from '../../run/process-group.ts'
import { COMPATIBILITY } from './config.ts'
import { OFFLINE, wranglerBin } from './wrangler.ts'

/** The part of a V8 CPU profile that is used; times are in microseconds. */
export interface CpuProfile {
  readonly nodes: readonly { readonly id: number; readonly callFrame: { readonly functionName: string } }[]
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
}

const TIMEOUT_MS = 60_000
/** Share of the limit that gets a warning, since another machine may be slower. */
const NEAR_LIMIT = 0.8

/** A warning if the start is near the limit. Empty if wrangler cannot measure it within `timeoutMs`, or if measuring fails. */
export async function startupWarnings(
  main: string,
  cwd: string,
  timeoutMs: number = TIMEOUT_MS,
): Promise<string[]> {
  const activeMs = await measureStartup(main, cwd, timeoutMs)
  const { startupMs } = FACTS.cloudflare
  if (activeMs === undefined || activeMs < startupMs.value * NEAR_LIMIT) return []
  return [
    `the Worker took ${Math.round(activeMs)} ms to start here, and Cloudflare allows ${shownValue(startupMs)}: do less at the top level; npx wrangler check startup shows a profile`,
  ]
}

async function measureStartup(main: string, cwd: string, timeoutMs: number): Promise<number | undefined> {
  const { folder, dispose } = createTempFolder()
  try {
    const config = join(folder, 'wrangler.json')
    const profile = join(folder, 'startup.cpuprofile')
    writeFileSync(
      config,
      JSON.stringify({ name: 'startup', main: resolve(main), no_bundle: true, ...COMPATIBILITY }),
    )
    const args = [wranglerBin(cwd), 'check', 'startup', '--config', config, '--outfile', profile]
    const group = startProcessGroup(args, {
      cwd: folder,
      env: { ...process.env, ...OFFLINE },
      stdio: 'ignore',
    })
    const timer = setTimeout(() => void group.stop(), timeoutMs)
    const code = await group.exited
    clearTimeout(timer)
    await group.stop()
    return code === 0 ? activeMsOf(JSON.parse(readFileSync(profile, 'utf8')) as CpuProfile) : undefined
  } catch {
    // A failed measurement must not stop the deployment.
    return undefined
  } finally {
    dispose()
  }
}

/** The sampled time, without idle time. */
export function activeMsOf({ nodes, samples, timeDeltas }: CpuProfile): number {
  const idle = new Set(
    nodes.filter(({ callFrame }) => callFrame.functionName === '(idle)').map(({ id }) => id),
  )
  const active = samples.reduce((sum, id, at) => (idle.has(id) ? sum : sum + (timeDeltas[at] ?? 0)), 0)
  return active / 1000
}
