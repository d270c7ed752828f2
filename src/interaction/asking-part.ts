/** What a call needs once it asks its client or runs a step: a part that is loaded then. Only `loadAsking` imports it. */
export { beginInteraction, openRounds } from './begin.ts'
export { degradedError } from './degraded.ts'
export { elicitQuestion, rootsQuestion, samplingQuestion, sentQuestion } from './question.ts'
export { Replay } from './replay.ts'
export { returnedQuestions } from './returned-questions.ts'
