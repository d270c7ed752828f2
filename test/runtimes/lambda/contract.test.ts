/** The contract behind a Function URL that streams, and behind an HTTP API that takes whole answers. */

import { ABILITIES } from '../../../deploy/contract/abilities.ts'
import type { Target } from '../../../deploy/contract/target.ts'
import { lambda } from '../../../deploy/targets/lambda/target.ts'
import { contract } from '../../contract/contract.ts'
import { serveArtefact } from '../_artefact.ts'
import { CWD } from './_function.ts'

const ENTRY = '../../../contract/fixture.ts'
const userAgent = /^Node\.js\//

/** The same package, by its other handler. */
const buffered: Pick<Target, 'build' | 'preview'> = {
  ...lambda,
  preview: (outDir, options) => {
    const launch = lambda.preview(outDir, options)
    return { ...launch, args: [...launch.args, '--trigger', 'http-api', '--handler', 'index.handler'] }
  },
}

contract('lambda, streaming', {
  abilities: ABILITIES.lambda,
  userAgent,
  start: () => serveArtefact(ENTRY, lambda, CWD),
})

contract('lambda, buffered', {
  abilities: ABILITIES['lambda-buffered'],
  userAgent,
  start: () => serveArtefact(ENTRY, buffered, CWD),
})
