/** On bun, with connections in Redis. */
import { bun } from '../../../../deploy/targets/bun/target.ts'
import { serve, signInFlow, startClientOn } from '../_flow.ts'

signInFlow('bun', {
  start: (variables, port) => serve(bun, 'redis', variables, port),
  startClient: () => startClientOn(bun),
})
