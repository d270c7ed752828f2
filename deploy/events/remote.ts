/** Asks an endpoint of events that has an admin. Its answers are not trusted. */

import { isObject } from '../../src/definition/is-object.ts'
import type { DeadLetterDetails, DeadLetterPage, EventOperations } from '../../src/events-admin.ts'
import { type EndpointKind, operatorAt } from '../tasks/operator.ts'
import { type Asked, perform, type Told } from './request.ts'

export const EVENT_ENDPOINT: EndpointKind = {
  what: 'endpoint of events',
  example: 'https://example.com/events',
  creator: 'createEventEndpoint',
  admin: 'createEventAdmin',
  variable: 'MAYFLY_EVENTS_SECRET',
}

/** Throws `CliError`. */
export async function askEndpoint(endpoint: URL, secret: string, asked: Asked): Promise<Told> {
  const { act, notAdmin } = operatorAt(endpoint, secret, EVENT_ENDPOINT)
  const operations: EventOperations = {
    async list(options) {
      const page = await act('GET', 'list', '', options)
      const { letters, next } = page
      const isPage =
        Array.isArray(letters) && letters.every((letter) => isObject(letter) && typeof letter.id === 'string')
      if (!isPage || !(next === undefined || typeof next === 'string')) throw notAdmin()
      return page as unknown as DeadLetterPage
    },
    async show(id) {
      const details = await act('GET', 'show', id)
      if (typeof details.id !== 'string' || !('subscription' in details)) throw notAdmin()
      return details as unknown as DeadLetterDetails
    },
    async redeliver(id) {
      const { eventId, isActive } = await act('POST', 'redeliver', id)
      if (typeof eventId !== 'string' || typeof isActive !== 'boolean') throw notAdmin()
      return { eventId, isActive }
    },
  }
  return perform(asked, operations)
}
