import { node } from '../../../deploy/targets/node/target.ts'
import { contract } from '../../contract/contract.ts'
import { serveArtefact } from '../_artefact.ts'

contract('node', {
  userAgent: /^Node\.js\//,
  start: () => serveArtefact('test/contract/fixture.ts', node),
})
