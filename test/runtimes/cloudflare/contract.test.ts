import { ABILITIES } from '../../../deploy/contract/abilities.ts'
import { cloudflare } from '../../../deploy/targets/cloudflare/target.ts'
import { contract } from '../../contract/contract.ts'
import { serveArtefact } from '../_artefact.ts'

contract('cloudflare', {
  abilities: ABILITIES.cloudflare,
  userAgent: /^Cloudflare-Workers$/,
  start: () => serveArtefact('test/contract/fixture.ts', cloudflare),
})
