import { ABILITIES } from '../../../deploy/contract/abilities.ts'
import { node } from '../../../deploy/targets/node/target.ts'
import { contract } from '../../contract/contract.ts'
import { serveArtefact } from '../_artefact.ts'

contract('node', {
  abilities: ABILITIES.node,
  userAgent: /^Node\.js\//,
  start: () => serveArtefact('test/contract/fixture.ts', node),
})
