/**
 * Metrics of the deliveries of events. As for tasks, the semantic conventions have no names for them: those begin with `mayfly.events`.
 */
import type { Meter } from '@opentelemetry/api'
import type { EventTelemetry } from '../request/telemetry.ts'
import { createInstruments, createQueue, SECONDS } from './instruments.ts'

export function createEventTelemetry(meter: Meter | undefined): EventTelemetry {
  const instruments = createInstruments(meter, createEventInstruments)
  return {
    recordDelivery({ event, error, tries, durationMs, ageMs }) {
      const { duration, age, requests } = instruments()
      const name = { 'mayfly.events.name': event }
      duration.record(seconds(durationMs), { ...name, ...(error !== undefined && { 'error.type': error }) })
      if (error !== undefined) return
      age.record(seconds(ageMs), name)
      requests.record(tries, name)
    },
    recordGivenUp({ event, reason }) {
      instruments().givenUp.add(1, { 'mayfly.events.name': event, 'mayfly.events.reason': reason })
    },
    recordQueue(queue) {
      instruments().queue(queue)
    },
  }
}

/** A user's timestamp may lie in the future. */
const seconds = (ms: number): number => Math.max(0, ms) / 1000

function createEventInstruments(meter: Meter) {
  return {
    duration: meter.createHistogram('mayfly.events.delivery.duration', {
      unit: 's',
      description: 'Duration of one request with an event to the webhook of a client.',
      advice: { explicitBucketBoundaries: SECONDS },
    }),
    age: meter.createHistogram('mayfly.events.delivery.age', {
      unit: 's',
      description: 'Time from an event to the answer of the webhook that took it.',
      advice: { explicitBucketBoundaries: [...SECONDS, 900, 3600, 21_600, 86_400] },
    }),
    requests: meter.createHistogram('mayfly.events.delivery.requests', {
      unit: '{request}',
      description: 'Requests until a webhook took an event.',
      advice: { explicitBucketBoundaries: [1, 2, 3, 5, 8, 13, 21] },
    }),
    givenUp: meter.createCounter('mayfly.events.given_up', {
      unit: '{delivery}',
      description: 'Deliveries that were given up, and became dead letters.',
    }),
    queue: createQueue(meter, 'mayfly.events', '{subscription}', {
      depth: 'Subscriptions with a delivery that is due.',
      age: 'Time for which the first of the due subscriptions has been waiting.',
    }),
  }
}
