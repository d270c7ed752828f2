import { startInWorkerd } from '../../runtimes/client/_workerd.ts'
import { hostileScenarios } from './_scenarios.ts'

hostileScenarios('workerd', () => startInWorkerd(`${import.meta.dirname}/_worker.ts`))
