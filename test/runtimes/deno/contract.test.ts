import { deno } from '../../../deploy/targets/deno/target.ts'
import { contract } from '../../contract/contract.ts'
import { serveArtefact } from '../_artefact.ts'

contract('deno, with the permissions net and env alone,', {
  userAgent: /^Deno\//,
  start: () => serveArtefact('test/contract/fixture.ts', deno),
})
