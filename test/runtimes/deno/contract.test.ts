import { ABILITIES } from '../../../deploy/contract/abilities.ts'
import { deno } from '../../../deploy/targets/deno/target.ts'
import { contract } from '../../contract/contract.ts'
import { serveArtefact } from '../_artefact.ts'

contract('deno, with the permissions net and env alone,', {
  abilities: ABILITIES.deno,
  userAgent: /^Deno\//,
  start: () => serveArtefact('test/contract/fixture.ts', deno),
})
