/** Each write of a store in memory fails. Real stores: `test/runtimes/mcp-events/faults.test.ts`. */
import { createMemoryEvents } from '../../../src/mcp-events.ts'
import { faultScenarios } from './_faults.ts'

faultScenarios(async () => createMemoryEvents(), 1)
