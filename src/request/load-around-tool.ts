/** Loads what runs a call through middleware. */
import type * as aroundTool from './around-tool.ts'

export const loadAroundTool = (): Promise<typeof aroundTool> => import('./around-tool.ts')
