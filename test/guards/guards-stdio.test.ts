/** The rest of `guards.test.ts`: each cell starts a process, which takes its time. */
import { testCells } from './_cells.ts'

testCells((entry) => entry === 'stdio')
