/** On deno, with connections in Postgres. */
import { deno } from '../../../../deploy/targets/deno/target.ts'
import { serve, signInFlow, startClientOn } from '../_flow.ts'

signInFlow('deno', {
  start: (variables, port) => serve(deno, 'postgres', variables, port),
  startClient: () => startClientOn(deno),
})
