/** Prompts and completion: a part that is loaded with their first request. Only `loadPrompts` imports it. */
export { complete } from './complete.ts'
export { getPrompt, listPrompts } from './prompts.ts'
