/** Loads the list of tools, the methods for resources, and those for prompts and completion. */
import type * as prompts from './prompts-part.ts'
import type * as resources from './resources.ts'
import type * as toolList from './tool-list.ts'

export const loadResources = (): Promise<typeof resources> => import('./resources.ts')
export const loadPrompts = (): Promise<typeof prompts> => import('./prompts-part.ts')
export const loadToolList = (): Promise<typeof toolList> => import('./tool-list.ts')
