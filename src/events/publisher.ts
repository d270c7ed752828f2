/** Publishes changes on a bus. */

import { withTimeout } from '../definition/timeout.ts'
import { type Bus, type ChangeEvent, checkEventSize } from './bus.ts'
import { BUS_TIMEOUT_MS, type Outage } from './outage.ts'

/**
 * A bus that fails or does not answer is reported once, and does not fail the call: the change itself succeeded.
 *
 * @throws TypeError for an event that no bus carries.
 */
export function createPublisher(bus: Bus, outage: Outage): (event: ChangeEvent) => Promise<void> {
  return async (event) => {
    checkEventSize(event)
    try {
      await withTimeout(bus.publish(event), BUS_TIMEOUT_MS, 'bus')
      outage.end()
    } catch (error) {
      outage.begin(error)
    }
  }
}
