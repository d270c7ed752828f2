/** Loaded before a server by `mayfly dev` and `mayfly preview`: tells of work that a tool repeats when it runs again with an answer. */
import { watchRepeatedWork } from '../../src/testing/repeated-work.ts'

watchRepeatedWork()

/** Bundlers drop a module of which nothing is used. */
export { watchRepeatedWork }
