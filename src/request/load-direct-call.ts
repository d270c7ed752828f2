/** Loads what runs a tool without a request. */
import type * as directCall from './direct-call.ts'

export const loadDirectCall = (): Promise<typeof directCall> => import('./direct-call.ts')
