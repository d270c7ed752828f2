/** What `mayfly events` asks for, and how it is told. */
import type {
  DeadLetterDetails,
  DeadLetterListOptions,
  DeadLetterPage,
  DeadLetterSummary,
  EventOperations,
} from '../../src/events-admin.ts'

export type Asked =
  | { readonly action: 'list'; readonly options: DeadLetterListOptions & { readonly limit: number } }
  | { readonly action: 'show' | 'redeliver'; readonly id: string }

export interface Told {
  readonly page?: DeadLetterPage
  readonly details?: DeadLetterDetails
  readonly redelivered?: { readonly eventId: string; readonly isActive: boolean }
}

/** Pages that are read for one list. */
const MAX_PAGES = 1000

export async function perform(asked: Asked, operations: EventOperations): Promise<Told> {
  if (asked.action === 'list') return { page: await collect(operations, asked.options) }
  if (asked.action === 'show') return { details: await operations.show(asked.id) }
  return { redelivered: await operations.redeliver(asked.id) }
}

/** As many pages as `limit` needs: many may be empty. */
async function collect(
  { list }: Pick<EventOperations, 'list'>,
  { limit, ...options }: DeadLetterListOptions & { readonly limit: number },
): Promise<DeadLetterPage> {
  const letters = new Map<string, DeadLetterSummary>()
  let next = options.after
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const page = await list({ ...options, limit: Math.min(200, limit - letters.size), after: next })
    for (const letter of page.letters) letters.set(letter.id, letter)
    next = page.next
    if (next === undefined || letters.size >= limit) break
  }
  return { letters: [...letters.values()], ...(next !== undefined && { next }) }
}
