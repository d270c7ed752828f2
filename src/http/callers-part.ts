/** What only servers need that tell callers apart or limit them. */
export { endingWhenRefused } from '../protocol/stream-expiry.ts'
export { createAdmitCaller } from './admit-caller.ts'
export { createGate, createTraffic } from './traffic.ts'
