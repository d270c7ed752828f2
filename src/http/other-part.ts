/** What only requests need that are refused, carry no message, or have a large body. */
export { answerOf, answerWithin, serveAuthPath } from './auth-paths.ts'
export { createReadLarge } from './body-pieces.ts'
export { createOtherMethods } from './other-methods.ts'
export { preflightResponse } from './preflight.ts'
export { refuseBody, refuseHeader } from './refusals.ts'
export { SESSION_METHODS } from './routes.ts'
