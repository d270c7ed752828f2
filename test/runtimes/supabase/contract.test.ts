import { ABILITIES } from '../../../deploy/contract/abilities.ts'
import { supabase } from '../../../deploy/targets/supabase/target.ts'
import { contract } from '../../contract/contract.ts'
import { serveArtefact } from '../_artefact.ts'

contract('deno behind a gateway as Supabase’s', {
  abilities: ABILITIES.supabase,
  userAgent: /^Deno\//,
  start: () => serveArtefact('test/contract/fixture.ts', supabase),
})
