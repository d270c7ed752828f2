/** On Netlify: a Function with connections in Redis, and an Edge Function with those of one process. */
import { netlify, netlifyEdge } from '../../../../deploy/targets/netlify/target.ts'
import { serve, signInFlow } from '../_flow.ts'

signInFlow('a Netlify Function', {
  start: (variables, port) => serve(netlify, 'redis', variables, port),
})

signInFlow('a Netlify Edge Function', {
  start: (variables, port) => serve(netlifyEdge, 'memory', variables, port),
})
