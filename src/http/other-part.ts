/** What only requests need that are refused, or carry no message. */
export { answerOf, answerWithin, serveAuthPath } from './auth-paths.ts'
export { createOtherMethods } from './other-methods.ts'
export { preflightResponse } from './preflight.ts'
export { refuseBody, refuseHeader } from './refusals.ts'
export { SESSION_METHODS } from './routes.ts'
