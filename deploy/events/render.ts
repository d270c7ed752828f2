/** Dead letters as text. All of it may come from strangers: each value is escaped, and nothing is trusted to have its type. */
import { isObject } from '../../src/definition/is-object.ts'
import type { DeadLetterDetails, DeadLetterPage } from '../../src/events-admin.ts'
import { printable } from '../terminal/cli-error.ts'
import { alignColumns, stylesFor } from '../terminal/styles.ts'

type Members = { readonly [name: string]: unknown }

/** A row is one line, so that it can be searched. */
const TABLE = { indent: 0, width: Number.POSITIVE_INFINITY }
const MAX_CHARACTERS = 4000

export function renderList({ letters }: DeadLetterPage): string {
  if (letters.length === 0) return 'no dead letters\n'
  const rows = letters.map((letter) => {
    const { id, reason, name, eventId, givenUpAt } = letter
    return [text(id), text(reason), text(name), text(eventId), text(givenUpAt), answerOf(letter)]
  })
  const header = ['letter', 'reason', 'event', 'eventId', 'given up', '']
  return `${alignColumns([header.map(stylesFor().heading), ...rows], TABLE)}\n`
}

export function renderDetails(details: DeadLetterDetails): string {
  const letter = details as unknown as Members
  const event = members(letter.event)
  const subscription = members(letter.subscription)
  const facts: readonly (readonly [string, string])[] = [
    ['letter', text(letter.id)],
    ['reason', [text(letter.reason), answerOf(letter)].filter(Boolean).join(': ')],
    ['given up', text(letter.givenUpAt)],
    ['event', [text(letter.name), text(letter.eventId)].filter(Boolean).join(' ')],
    ['happened', text(event.timestamp)],
    ['data', letter.event === null ? 'not stored any more' : text(members(event.data).json)],
    ['subscription', text(letter.subscriptionId)],
    ['of', letter.subscription === null ? 'it has ended' : text(subscription.clientId)],
    ['endpoint', text(subscription.origin)],
    ['arguments', text(members(subscription.arguments).json)],
    ['state', stateOf(subscription)],
    ['last delivery', text(subscription.lastDeliveryAt)],
    ['failing since', text(subscription.failedSince)],
    ['expires', text(subscription.expiresAt)],
  ]
  return `${facts
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name.padEnd(14)}  ${value}`)
    .join('\n')}\n`
}

function stateOf({ active, queued }: Members): string {
  const waiting = typeof queued === 'number' ? `${queued} events wait` : ''
  return [active === false ? 'suspended' : '', waiting].filter(Boolean).join(', ')
}

function answerOf(letter: object): string {
  const { status, lastError, tries } = letter as Members
  return [
    typeof status === 'number' ? `status ${status}` : text(lastError),
    typeof tries === 'number' && tries > 1 ? `${tries} tries` : '',
  ]
    .filter(Boolean)
    .join(', ')
}

/** On one line. */
function text(value: unknown): string {
  if (value === undefined || value === null) return ''
  return printable(String(typeof value === 'object' ? JSON.stringify(value) : value).slice(0, MAX_CHARACTERS))
}

function members(value: unknown): Members {
  return isObject(value) ? value : {}
}
