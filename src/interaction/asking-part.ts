/** What a call needs once it asks its client or runs a step: a part that is loaded then. Only `loadAsking` imports it. */
export { degradedError } from './degraded.ts'
export { createModernInteraction } from './interaction.ts'
export { createLegacyInteraction } from './legacy-policy.ts'
export { elicitQuestion, rootsQuestion, samplingQuestion, sentQuestion } from './question.ts'
export { Replay } from './replay.ts'
export { returnedQuestions } from './returned-questions.ts'
export { restoreJournal } from './state.ts'
