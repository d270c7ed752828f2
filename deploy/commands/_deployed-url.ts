/** The last steps of `mayfly deploy`: find the server's URL and, with `--check`, verify the deployed server. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Deployment } from '../contract/target.ts'
import { type DeployTool, lookUp } from '../targets/deploy-tool.ts'

/** A new host name resolves within seconds; its certificate may take a minute. */
const REACHABLE_WITHIN_MS = 60_000
const REQUEST_TIMEOUT_MS = 10_000
const POLL_MS = 1000

/** The URL of the MCP endpoint; undefined if the platform's tool did not report it. `told` is the output of the last step. */
export async function findDeployedUrl(
  { endpoint }: Deployment,
  told: string,
  tool: DeployTool,
): Promise<string | undefined> {
  const source = endpoint?.step === undefined ? told : await lookUp(endpoint.step, tool)
  const found = source === undefined ? undefined : endpoint?.find(source)
  return found !== undefined && URL.canParse(found) ? new URL(found).href : undefined
}

/** Runs `mayfly check` against it as soon as it answers, and returns the exit code. */
export async function checkEndpoint(
  url: string,
  headers: { readonly [name: string]: string } = {},
): Promise<number> {
  await untilReachable(url)
  const { check } = await import('./check.ts')
  return check([
    url,
    ...Object.entries(headers).flatMap(([name, value]) => ['--header', `${name}: ${value}`]),
  ])
}

/** Waits at most a minute; `check` then reports that nothing answers. */
async function untilReachable(url: string): Promise<void> {
  const end = performance.now() + REACHABLE_WITHIN_MS
  while (performance.now() < end) {
    const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS)
    const answer = await fetch(url, { method: 'OPTIONS', redirect: 'manual', signal }).catch(() => undefined)
    await answer?.body?.cancel()
    if (answer !== undefined) return
    await delay(POLL_MS)
  }
}
