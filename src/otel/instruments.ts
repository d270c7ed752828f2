/** What the spans and metrics of requests, of tasks and of events share. */
import { type Attributes, type Meter, type MeterProvider, metrics } from '@opentelemetry/api'
import { clip } from '../protocol/describe.ts'
import type { TracedQueue } from '../request/telemetry.ts'

/** The scope of everything that is recorded without the options `tracer` and `meter`. */
export const SCOPE = 'mayfly-mcp'

/** As recommended by the semantic conventions for `mcp.server.operation.duration`, in seconds. */
export const SECONDS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300]

/** Creates instruments with the currently registered provider, which may be registered after the server was created. */
export function createInstruments<Instruments>(
  meter: Meter | undefined,
  create: (meter: Meter) => Instruments,
): () => Instruments {
  let provider: MeterProvider | undefined
  let instruments: Instruments | undefined
  return () => {
    const current = metrics.getMeterProvider()
    if (instruments === undefined || (meter === undefined && current !== provider)) {
      provider = current
      instruments = create(meter ?? current.getMeter(SCOPE))
    }
    return instruments
  }
}

/** Gauges of what waits: `<name>.queue.depth` and `<name>.queue.age`. */
export function createQueue(
  meter: Meter,
  name: string,
  unit: string,
  descriptions: { readonly depth: string; readonly age: string },
): (queue: TracedQueue) => void {
  const depth = meter.createGauge(`${name}.queue.depth`, { unit, description: descriptions.depth })
  const age = meter.createGauge(`${name}.queue.age`, { unit: 's', description: descriptions.age })
  return ({ server, due, oldestDueMs }) => {
    const attributes = { 'mayfly.server.id': server }
    depth.record(due, attributes)
    age.record(oldestDueMs / 1000, attributes)
  }
}

/** Truncated as in the log, so that a client cannot fill the traces with invented text. */
export function clipped(attributes: Attributes): Attributes {
  const entries = Object.entries(attributes)
  return Object.fromEntries(
    entries.map(([name, value]) => [name, typeof value === 'string' ? clip(value) : value]),
  )
}
