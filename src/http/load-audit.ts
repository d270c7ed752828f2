/** Loads the audit trail. */
import type * as audit from './audit.ts'

export const loadAudit = (): Promise<typeof audit> => import('./audit.ts')
