/** Loaded before a server by `mayfly dev` and `mayfly preview`: tells of work that a tool repeats when it runs again with an answer, and where a `fetch` that fails was called. */
import { watchRepeatedWork } from '../../src/testing/repeated-work.ts'
import { keepFetchStack } from './fetch-stack.ts'

keepFetchStack()
watchRepeatedWork()

/** Bundlers drop a module of which nothing is used. */
export { watchRepeatedWork }
