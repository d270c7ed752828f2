/** One request at a time for a key: all who need its answer meanwhile get it. */
import { setNewest } from './set-newest.ts'
import { withTimeout } from './timeout.ts'

/** Longer than a request to another server may take. Some platforms end one silently when the caller that began it leaves. */
const FLIGHT_MS = 8000
const MAX_FLIGHTS = 1000

export interface Share<Value> {
  /** Whether `run` would wait for the answer of another caller. */
  has(key: string): boolean
  run(key: string, work: () => Promise<Value>): Promise<Value>
}

/** @param what For the error of who has waited too long for another caller's answer. */
export function createShare<Value>(what: string): Share<Value> {
  const flights = new Map<string, { readonly answer: Promise<Value>; readonly until: number }>()
  const running = (key: string): Promise<Value> | undefined => {
    const flight = flights.get(key)
    return flight !== undefined && flight.until > Date.now() ? flight.answer : undefined
  }
  return {
    has: (key) => running(key) !== undefined,
    async run(key, work) {
      const other = running(key)
      if (other !== undefined) return withTimeout(other, FLIGHT_MS, what)
      const answer = work()
      setNewest(flights, key, { answer, until: Date.now() + FLIGHT_MS }, MAX_FLIGHTS)
      try {
        return await answer
      } finally {
        if (flights.get(key)?.answer === answer) flights.delete(key)
      }
    },
  }
}
