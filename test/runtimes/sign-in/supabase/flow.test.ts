/** On deno behind a gateway as Supabase’s, below the prefix of the function, with connections in Postgres. */
import { supabase } from '../../../../deploy/targets/supabase/target.ts'
import { serve, signInFlow } from '../_flow.ts'

signInFlow(
  'Supabase',
  { start: (variables, port) => serve(supabase, 'postgres', variables, port) },
  '/functions/v1/notes/mcp',
)
