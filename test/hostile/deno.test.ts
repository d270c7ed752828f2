import { deno } from '../../deploy/targets/deno/target.ts'
import { serveArtefact } from '../runtimes/_artefact.ts'
import { hostile } from './_hostile.ts'

hostile('deno', { start: () => serveArtefact('test/hostile/fixture.ts', deno) })
