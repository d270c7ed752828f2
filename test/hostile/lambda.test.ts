/** Behind a Function URL that streams, and behind an HTTP API that takes whole answers. */

import type { Target } from '../../deploy/contract/target.ts'
import { lambda } from '../../deploy/targets/lambda/target.ts'
import { serveArtefact } from '../runtimes/_artefact.ts'
import { CWD } from '../runtimes/lambda/_function.ts'
import { hostile } from './_hostile.ts'

const ENTRY = '../../../hostile/fixture.ts'

const buffered: Pick<Target, 'build' | 'preview'> = {
  ...lambda,
  preview: (outDir, options) => {
    const launch = lambda.preview(outDir, options)
    return { ...launch, args: [...launch.args, '--trigger', 'http-api', '--handler', 'index.handler'] }
  },
}

/** AWS reads requests itself, and calls the function with what it has read. */
const without = ['bodies that stop']

hostile('Lambda, streaming', { start: () => serveArtefact(ENTRY, lambda, CWD), without })

hostile('Lambda, buffered', { start: () => serveArtefact(ENTRY, buffered, CWD), without })
