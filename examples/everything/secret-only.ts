/** Everything, in several processes that share a secret and nothing else: without a shared bus none is configured. */
import { createEverything } from './everything.ts'

export default createEverything({})
