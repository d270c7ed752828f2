import { node } from '../../deploy/targets/node/target.ts'
import { serveArtefact } from '../runtimes/_artefact.ts'
import { hostile } from './_hostile.ts'

hostile('Node', { start: () => serveArtefact('test/hostile/fixture.ts', node) })
