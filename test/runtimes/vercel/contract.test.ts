import { ABILITIES } from '../../../deploy/contract/abilities.ts'
import { vercel, vercelEdge } from '../../../deploy/targets/vercel/target.ts'
import { contract } from '../../contract/contract.ts'
import { deadline } from '../../contract/deadline.ts'
import { serveArtefact, withEnv } from '../_artefact.ts'

const FIXTURE = 'test/contract/fixture.ts'
const LIMIT = { maxDurationMs: 3000, named: 'the maximum duration of the Vercel Function' }

contract('a Vercel Function on Node', {
  abilities: ABILITIES.vercel,
  userAgent: /^Node\.js\//,
  start: () => serveArtefact(FIXTURE, vercel),
})

contract('Vercel’s edge-runtime', {
  abilities: ABILITIES['vercel-edge'],
  userAgent: /^edge-runtime$/,
  start: () => serveArtefact(FIXTURE, vercelEdge),
})

deadline('Vercel', () => serveArtefact(FIXTURE, withEnv(vercel, { MAYFLY_MAX_DURATION_MS: '3000' })), LIMIT)

deadline(
  'Vercel’s edge-runtime',
  () => serveArtefact(FIXTURE, withEnv(vercelEdge, { MAYFLY_MAX_DURATION_MS: '3000' })),
  LIMIT,
)
