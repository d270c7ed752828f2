/** The keys of what Events store: each kind begins with a letter of its own, by which it is listed. */

const TIME_DIGITS = 15
const NUMBER_DIGITS = 12

const number = (seq: number): string => String(seq).padStart(NUMBER_DIGITS, '0')
const time = (at: number): string => String(at).padStart(TIME_DIGITS, '0')

/** A subscription with what it still has to receive. */
export const subscriptionKey = (id: string): string => `s:${id}`
/** A subscription as its caller's: counted for the quota of a principal. */
export const ownedPrefix = (principal: string): string => `p:${principal}:`
export const ownedKey = (principal: string, id: string): string => `${ownedPrefix(principal)}${id}`
/** A subscription as one of all. */
export const countedPrefix = (shard: string): string => `a:sub_${shard}`
export const countedKey = (id: string): string => `a:${id}`
/** Read and written by everything that changes a number: of a principal's subscriptions, or of a part of all. */
export const gateKey = (name: string): string => `g:${name}`
/** The request that may change a subscription, or the mark of one that was unsubscribed. */
export const fenceKey = (id: string): string => `f:${id}`
/** That a principal's endpoint wants deliveries. */
export const verifiedKey = (principal: string, url: string): string => `k:${principal}:${url}`
/** How many challenges were sent in a minute, for a principal or to a host. */
export const challengesKey = (minute: number, whose: string): string => `v:${minute}:${whose}`
/** Subscriptions by their event, and by what they want of it. */
export const typePrefix = (type: string): string => `x:${type}:`
export const matchPrefix = (type: string, pattern: string): string => `${typePrefix(type)}${pattern}:`
export const matchKey = (type: string, pattern: string, id: string): string =>
  `${matchPrefix(type, pattern)}${id}`
/** The newest event of a type. */
export const headKey = (type: string): string => `h:${type}`
export const eventPrefix = (type: string): string => `e:${type}:`
export const eventKey = (type: string, seq: number): string => `${eventPrefix(type)}${number(seq)}`
/** The identifier of an event that was emitted. */
export const emittedKey = (type: string, id: string): string => `d:${type}:${id}`
/** An event that is not yet in all subscriptions that want it. */
export const outboxPrefix = (type: string): string => `o:${type}:`
export const outboxKey = (type: string, seq: number): string => `${outboxPrefix(type)}${number(seq)}`
/** What was given up. */
export const DEAD_PREFIX = 'l:'
export const deadKey = (at: number, id: string, seq: number, owner: string): string =>
  `${DEAD_PREFIX}${time(at)}:${id}:${number(seq)}:${owner.slice(0, 8)}`

/** `owner`: the beginning of a digest. */
export function readDeadKey(key: string): { readonly id: string; readonly owner: string } {
  const [, id = '', , owner = ''] = key.slice(DEAD_PREFIX.length).split(':')
  return { id, owner }
}

/** The name of a dead letter, which is its key in characters that need no escape in a URL or a shell. */
export const deadIdOf = (key: string): string => key.slice(DEAD_PREFIX.length).replaceAll(':', '.')
export const isDeadId = (id: string): boolean => /^\d{15}\.sub_[\da-f]{32}\.\d{12}\.[\w-]{8}$/.test(id)
export const keyOfDead = (id: string): string => `${DEAD_PREFIX}${id.replaceAll('.', ':')}`
export const deadAt = (key: string): number => Number(key.slice(DEAD_PREFIX.length).split(':')[0])

/** Subscriptions by the time when they have something to send. */
export const DUE_PREFIX = 'u:'
export const dueKey = (at: number, host: string, owner: string, id: string): string =>
  `${DUE_PREFIX}${time(at)}:${host}:${owner.slice(0, 8)}:${id}`

/** The parts of a key. `owner`: the beginning of a digest. */
export function readDueKey(key: string): {
  readonly at: number
  readonly host: string
  readonly owner: string
  readonly id: string
} {
  const [at = '', host = '', owner = '', id = ''] = key.slice(DUE_PREFIX.length).split(':')
  return { at: Number(at), host, owner, id }
}

/** Which hook of a subscription is still to be called. */
export const lifeKey = (id: string): string => `n:${id}`
/** Subscriptions by the time when a hook of them is to be called. */
export const LIFE_DUE_PREFIX = 'w:'
export const lifeDueKey = (at: number, id: string): string => `${LIFE_DUE_PREFIX}${time(at)}:${id}`

export function readLifeDueKey(key: string): { readonly at: number; readonly id: string } {
  const [at = '', id = ''] = key.slice(LIFE_DUE_PREFIX.length).split(':')
  return { at: Number(at), id }
}

/** The number of an event in `key`, which begins with `prefix`. */
export const seqIn = (key: string, prefix: string): number => Number(key.slice(prefix.length))
/** The subscription in a key that ends with it. */
export const idIn = (key: string): string => key.slice(key.lastIndexOf(':') + 1)
