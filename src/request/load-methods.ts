/** Loads the methods for resources, and those for prompts and completion. */
import type * as prompts from './prompts-part.ts'
import type * as resources from './resources.ts'

export const loadResources = (): Promise<typeof resources> => import('./resources.ts')
export const loadPrompts = (): Promise<typeof prompts> => import('./prompts-part.ts')
