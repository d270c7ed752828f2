/** On Node, with connections in Postgres. */
import { node } from '../../../../deploy/targets/node/target.ts'
import { serve, signInFlow, startClientOn } from '../_flow.ts'

signInFlow('Node', {
  isLasting: true,
  start: (variables, port) => serve(node, 'postgres', variables, port),
  startClient: () => startClientOn(node),
})
