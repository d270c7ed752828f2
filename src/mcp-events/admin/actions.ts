/** What a request of an operator may say, for the endpoint and for those who ask it. */

/** The actions, and the method of each. */
export const METHODS = { list: 'GET', show: 'GET', redeliver: 'POST' } as const

export type Action = keyof typeof METHODS

/** What `list` takes, as numbers and as strings. */
export const NUMBERS = ['olderThanMs', 'youngerThanMs', 'limit'] as const
export const TEXTS = ['reason', 'name', 'after'] as const
