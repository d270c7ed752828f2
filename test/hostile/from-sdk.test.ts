import { node } from '../../deploy/targets/node/target.ts'
import { serveArtefact } from '../runtimes/_artefact.ts'
import { hostile } from './_hostile.ts'

hostile('an SDK v2 server on Node', {
  start: () => serveArtefact('test/hostile/from-sdk.ts', node),
  isForeign: true,
})
