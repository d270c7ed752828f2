/** The last steps of `mayfly deploy`: find the server's URL, and see whether the deployed server works. */
import { setTimeout as delay } from 'node:timers/promises'
import { boundedFetch } from '../../src/definition/bounded-fetch.ts'
import { memberOf, textOf } from '../../src/definition/error-text.ts'
import { countVerdicts, renderTable, summary } from '../check/report.ts'
import { type Report, type Result, runProbes } from '../check/run.ts'
import type { Deployment } from '../contract/target.ts'
import { type DeployTool, lookUp } from '../targets/deploy-tool.ts'
import { withProgress } from '../terminal/progress.ts'
import { columns, isColoured } from '../terminal/styles.ts'
import { terminal } from '../terminal/terminal.ts'

/** A new host name resolves within seconds; its certificate may take a minute. */
const REACHABLE_WITHIN_MS = 60_000
const REQUEST_TIMEOUT_MS = 10_000
const POLL_MS = 1000

/** The URL of the MCP endpoint; undefined if the platform's tool did not report it. `told` is the output of the last step. */
export async function findDeployedUrl(
  { endpoint }: Deployment,
  told: string,
  tool: DeployTool,
  hidden: readonly string[] = [],
): Promise<string | undefined> {
  const source = endpoint?.step === undefined ? told : await lookUp(endpoint.step, tool, hidden)
  const found = source === undefined ? undefined : endpoint?.find(source)
  return found !== undefined && URL.canParse(found) ? new URL(found).href : undefined
}

export interface Check {
  readonly url: string
  readonly headers?: { readonly [name: string]: string } | undefined
  /** For a server that needs a token. */
  readonly bearer: string | undefined
}

/** What the check saw: its report, or why there is none. */
export type Checked =
  | { readonly report: Report; readonly isLocked: boolean }
  | { readonly failure: string; readonly exitCode: number }

/** Checks the server as soon as it answers. */
export async function checkDeployed({ url, headers = {}, bearer }: Check): Promise<Checked> {
  await withProgress((show) => {
    show(`waiting for an answer of ${url}`)
    return untilReachable(url)
  })
  try {
    const report = await runProbes({
      url: new URL(url),
      bearer,
      headers,
      timeoutMs: REQUEST_TIMEOUT_MS,
      origin: undefined,
    })
    // With a token that is accepted, or without the need for one, the eras are known.
    return { report, isLocked: report.eras.length === 0 && report.results.length > 1 }
  } catch (error) {
    const exitCode = memberOf(error, 'exitCode')
    return { failure: textOf(error), exitCode: typeof exitCode === 'number' ? exitCode : 1 }
  }
}

export interface Telling {
  /** `--check`: a skipped step is a failure, if a token would have allowed it. */
  readonly isStrict: boolean
  /** Whether the whole report goes to stdout. */
  readonly isFull: boolean
}

/** Says what the check saw, and returns the exit code. */
export function tellChecked(checked: Checked, url: string, { isStrict, isFull }: Telling): number {
  if ('failure' in checked) {
    terminal.warn(`uploaded, but not healthy: ${checked.failure}`)
    return checked.exitCode
  }
  const { report, isLocked } = checked
  const counts = countVerdicts(report)
  if (isFull)
    process.stdout.write(
      renderTable(report, url, isColoured(), { tokenOption: '--check-bearer-env', width: columns() }),
    )
  else terminal.note(`checked ${url}: ${summary(counts)}`)
  const wrong = report.results.filter(({ verdict }) => verdict === 'wrong')
  if (!isFull) for (const result of wrong) terminal.warn(problem(result))
  if (isLocked) {
    terminal.warn(
      `the server asks for a token, so ${counts.skipped} steps of the check were skipped: pass --check-bearer-env with the name of a variable that has one`,
    )
  }
  return wrong.length > 0 || (isStrict && isLocked) ? 1 : 0
}

function problem(result: Result): string {
  const fix = 'fix' in result ? `; ${result.fix}` : ''
  return `wrong: ${result.title}: ${result.detail}${fix} [${result.id}]`
}

/** Waits at most a minute; `check` then reports that nothing answers. */
async function untilReachable(url: string): Promise<void> {
  const end = performance.now() + REACHABLE_WITHIN_MS
  while (performance.now() < end) {
    const limits = { timeoutMs: REQUEST_TIMEOUT_MS, maxBytes: 0, isRead: () => false }
    if ((await boundedFetch(url, { method: 'OPTIONS' }, limits).catch(() => undefined)) !== undefined) return
    await delay(POLL_MS)
  }
}
