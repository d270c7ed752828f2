/** Netlify Functions on Node and Edge Functions on Deno, each called as Netlify calls it: its own hosts are not on npm. */
import { ABILITIES } from '../../../deploy/contract/abilities.ts'
import { netlify, netlifyEdge } from '../../../deploy/targets/netlify/target.ts'
import { contract } from '../../contract/contract.ts'
import { deadline } from '../../contract/deadline.ts'
import { serveArtefact, withEnv } from '../_artefact.ts'

const FIXTURE = 'test/contract/fixture.ts'
const LIMIT = { MAYFLY_MAX_DURATION_MS: '3000' }

contract('a Netlify Function', {
  abilities: ABILITIES.netlify,
  userAgent: /^Node\.js\//,
  start: () => serveArtefact(FIXTURE, netlify),
})

contract('a Netlify Edge Function', {
  abilities: ABILITIES['netlify-edge'],
  userAgent: /^Deno\//,
  start: () => serveArtefact(FIXTURE, netlifyEdge),
})

deadline('Netlify', () => serveArtefact(FIXTURE, withEnv(netlify, LIMIT)), {
  maxDurationMs: 3000,
  named: 'the execution limit of the Netlify Function',
})

// A stream has begun long before: only what is answered whole is ended.
deadline('Netlify Edge', () => serveArtefact(FIXTURE, withEnv(netlifyEdge, LIMIT)), {
  maxDurationMs: 3000,
  named: 'the response header timeout of Netlify Edge Functions',
  streams: false,
})
