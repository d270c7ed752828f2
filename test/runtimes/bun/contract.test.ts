import { ABILITIES } from '../../../deploy/contract/abilities.ts'
import { bun } from '../../../deploy/targets/bun/target.ts'
import { contract } from '../../contract/contract.ts'
import { serveArtefact } from '../_artefact.ts'

contract('bun', {
  abilities: ABILITIES.bun,
  userAgent: /^Bun\//,
  start: () => serveArtefact('test/contract/fixture.ts', bun),
})
