/** Everything, in several processes that share a secret and nothing else: without a shared bus, no process hears of the others' changes. */
import { createEverything } from './everything.ts'

export default createEverything({ bus: false })
