/** On Vercel: a Function on Node with connections in Redis, and the edge-runtime, which has no sockets, with those of one process. */
import { vercel, vercelEdge } from '../../../../deploy/targets/vercel/target.ts'
import { serve, signInFlow, startClientOn } from '../_flow.ts'

signInFlow('a Vercel Function', {
  start: (variables, port) => serve(vercel, 'redis', variables, port),
})

signInFlow('Vercel’s edge-runtime', {
  start: (variables, port) => serve(vercelEdge, 'memory', variables, port),
  startClient: () => startClientOn(vercelEdge),
})
