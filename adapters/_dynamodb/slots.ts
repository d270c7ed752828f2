/**
 * The slots of an owner's open tasks: one item per owner, with an attribute for each task and their number. Both change in one write, so
 * the number is always correct.
 */
import type { StoredTask } from '../../src/tasks/store.ts'
import { type Slots, SUSPECT_AFTER_MS, SUSPECTS, type Taken } from '../_tasks/slots.ts'
import type { DynamoValue, KeptItem } from './client.ts'
import type { Table } from './table.ts'

/** Maximum slots that fit into an item. */
const MAX_SLOTS = 3000

const PREFIX = 'task#'

/** @param time The store's, in milliseconds since the epoch. */
export function createSlots(table: Table, time: () => number): Slots {
  const keyOf = (owner: string): string => `owner#${owner}`
  const write = (owner: string, id: string, expression: string, condition: string, values: Values) =>
    table.update(
      keyOf(owner),
      expression,
      condition,
      { '#count': 'count', '#slot': `${PREFIX}${id}` },
      values,
    )

  const keep = async (task: StoredTask): Promise<void> => {
    const { owner, id } = task
    const slot = { ':slot': toSlot(task, time()) }
    if (
      await write(
        owner,
        id,
        'SET #slot = :slot',
        'attribute_exists(#slot) AND attribute_exists(#count)',
        slot,
      )
    )
      return
    await write(owner, id, 'SET #slot = :slot ADD #count :one', 'attribute_not_exists(#slot)', {
      ...slot,
      ':one': { N: '1' },
    })
  }

  const free = async (owner: string, ids: readonly string[]): Promise<void> => {
    const one = async (id: string): Promise<void> => {
      const minus = { ':minus': { N: '-1' } }
      const left = await write(owner, id, 'REMOVE #slot ADD #count :minus', 'attribute_exists(#slot)', minus)
      if (left && left.count?.N === '0')
        await table.remove(keyOf(owner), '#count = :none', { '#count': 'count' }, { ':none': { N: '0' } })
    }
    await Promise.all(ids.map(one))
  }

  const take = async (task: StoredTask, maxOpen: number, isLast = false): Promise<Taken> => {
    const { owner, id } = task
    if (maxOpen <= 0) return { isTaken: false, suspects: [] }
    const condition = 'attribute_not_exists(#slot) AND (attribute_not_exists(#count) OR #count < :max)'
    const values = {
      ':slot': toSlot(task, time()),
      ':one': { N: '1' },
      ':max': { N: String(Math.min(maxOpen, MAX_SLOTS)) },
    }
    if (await write(owner, id, 'SET #slot = :slot ADD #count :one', condition, values))
      return { isTaken: true, isNew: true }
    const slots = toSlots(await table.get(keyOf(owner)))
    if (slots.some((slot) => slot.id === id)) {
      await keep(task)
      return { isTaken: true, isNew: false }
    }
    const now = time()
    const expired = slots.filter(({ expiresAt }) => expiresAt !== undefined && expiresAt <= now)
    if (expired.length === 0 || isLast) return { isTaken: false, suspects: toSuspects(slots, now) }
    await free(
      owner,
      expired.slice(0, SUSPECTS).map(({ id }) => id),
    )
    return take(task, maxOpen, true)
  }
  return { take, keep, free }
}

type Values = Record<string, DynamoValue>

interface KeptSlot {
  readonly id: string
  readonly expiresAt: number | undefined
  readonly takenAt: number
}

function toSlot({ expiresAt }: StoredTask, now: number): DynamoValue {
  return { S: `${expiresAt ?? ''}/${now}` }
}

function toSlots(item: KeptItem = {}): KeptSlot[] {
  return Object.entries(item).flatMap(([name, { S = '' }]) => {
    if (!name.startsWith(PREFIX)) return []
    const [expiresAt, takenAt] = S.split('/')
    return [
      {
        id: name.slice(PREFIX.length),
        expiresAt: expiresAt ? Number(expiresAt) : undefined,
        takenAt: Number(takenAt),
      },
    ]
  })
}

function toSuspects(slots: readonly KeptSlot[], now: number): string[] {
  return slots
    .filter(({ takenAt }) => takenAt <= now - SUSPECT_AFTER_MS)
    .map(({ id }) => ({ id, turn: Math.random() }))
    .sort((one, other) => one.turn - other.turn)
    .slice(0, SUSPECTS)
    .map(({ id }) => id)
}
