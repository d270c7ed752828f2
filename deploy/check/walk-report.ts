/** The report of `--as`: the steps of each client, and where it would stop. A table for people, a JSON document for scripts. */
import { type Styles, stylesFor } from '../terminal/styles.ts'
import { isLocalHost } from './addresses.ts'
import { DEPLOYED } from './outcome.ts'
import { detailOf, fixOf, summary, toCounts, verdictOf } from './report.ts'
import type { Walk, WalkedStep } from './walk/walk.ts'

export function renderWalks(walks: readonly Walk[], url: string, isColoured: boolean): string {
  const styles = stylesFor(isColoured)
  const width = Math.max(...walks.flatMap(({ steps }) => steps.map(({ title }) => title.length)))
  const blocks = walks.map((walk) => block(walk, width, styles))
  const connecting = walks.filter(({ wouldConnect }) => wouldConnect === true).length
  const unknown = walks.filter(({ wouldConnect }) => wouldConnect === undefined).length
  const untold = unknown === 0 ? '' : `, ${unknown} cannot be told${onLoopback(walks, url)}`
  const counts = summary(toCounts(walks.flatMap(({ steps }) => steps)))
  const said = `${connecting} of ${walks.length} ${walks.length === 1 ? 'client' : 'clients'} would connect${untold}: ${counts}`
  return `${url}\n\n${blocks.join('\n')}\n${said}\n`
}

/** Of a client that cannot be told, whether another URL would tell, and not a token. */
function onLoopback(walks: readonly Walk[], url: string): string {
  if (!isLocalHost(new URL(url).hostname)) return ''
  const unknown = walks.filter(({ wouldConnect }) => wouldConnect === undefined)
  const local = unknown.filter(({ steps }) =>
    steps.some((step) => 'toTry' in step && step.toTry?.startsWith(DEPLOYED)),
  )
  if (local.length === unknown.length) return ' on loopback'
  return local.length === 0 ? '' : `, ${local.length} of them on loopback`
}

function block({ name, steps, stopsAt }: Walk, width: number, styles: Styles): string {
  const untried = steps.find((step) => 'toTry' in step)
  const stop = steps.find(({ id }) => id === stopsAt)
  const end = stop === undefined ? untried && `, cannot be told: ${untried.title}` : `, stops: ${stop.title}`
  return [`${styles.heading(name)}${end ?? ''}`, ...steps.map((step) => row(step, width, styles)), ''].join(
    '\n',
  )
}

function row(step: WalkedStep, width: number, styles: Styles): string {
  const line = `  ${verdictOf(step, styles)}  ${step.title.padEnd(width)}  ${detailOf(step, styles)}`
  const [source] = step.sources
  if ('toTry' in step) return `${line}\n${' '.repeat(12)}${styles.heading('to try it')}: ${step.toTry}`
  return 'fix' in step
    ? `${line}\n${' '.repeat(12)}${fixOf(step, styles)}\n${' '.repeat(12)}${styles.dim(`source: ${source?.url}, ${source?.date}`)}`
    : line
}

/** Its shape is documented in docs/check-reference.md; members may be added. */
export function renderWalksJson(walks: readonly Walk[], url: string): string {
  const clients = walks.map(({ stopsAt, wouldConnect, ...walk }) => ({
    ...walk,
    stopsAt: stopsAt ?? null,
    wouldConnect: wouldConnect ?? null,
  }))
  const counts = toCounts(walks.flatMap(({ steps }) => steps))
  return `${JSON.stringify({ url, summary: counts, clients }, null, 2)}\n`
}
