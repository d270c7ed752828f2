/** The steps of a running task, from the journal of its task endpoint. */
import { element } from './dom.ts'
import { asObject, asText, clip } from './json.ts'
import { fromNow } from './task-times.ts'

/** The last ones are shown. */
const MAX_STEPS = 50

/** What an entry is that is not a step of the tool. */
const KINDS: { readonly [kind: string]: string } = {
  sleep: 'sleeps',
  wait: 'waits',
  question: 'asks',
  attempt: 'is tried again',
}

export function stepElements(journal: readonly unknown[], now: number): HTMLElement[] {
  const earlier = journal.length - MAX_STEPS
  const rest = earlier > 0 ? [element('li', { class: 'soft' }, `${earlier} earlier`)] : []
  return [...rest, ...journal.slice(-MAX_STEPS).map((entry) => stepElement(entry, now))]
}

function stepElement(given: unknown, now: number): HTMLElement {
  const { kind, name, error, isPending, until, attempts } = asObject(given)
  const failed = asText(asObject(error).message)
  // A step that is stored is done, whether or not the tool has its result.
  const isOpen = isPending === true && kind !== 'step'
  const [mark, state] = failed !== undefined ? ['✕', 'failed'] : isOpen ? ['●', 'now'] : ['✓', 'done']
  const times = typeof attempts === 'number' ? `failed ${attempts} times` : undefined
  const about = [
    Object.hasOwn(KINDS, String(kind)) ? KINDS[String(kind)] : undefined,
    times,
    isOpen && until !== undefined ? `${kind === 'attempt' ? '' : 'ends '}${fromNow(until, now)}` : undefined,
  ].filter((one) => one !== undefined)
  return element(
    'li',
    { class: state },
    element('span', { role: 'img', 'aria-label': state }, mark),
    element('span', {}, clip(asText(name) ?? '', 200)),
    about.length === 0 ? undefined : element('span', { class: 'soft' }, about.join(', ')),
    failed === undefined ? undefined : element('span', { class: 'bad' }, clip(failed, 500)),
  )
}
