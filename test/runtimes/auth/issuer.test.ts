/** What verifiers ask of an issuer, asked from the runtimes that servers are deployed to. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Target } from '../../../deploy/contract/target.ts'
import { cloudflare } from '../../../deploy/targets/cloudflare/target.ts'
import { deno } from '../../../deploy/targets/deno/target.ts'
import { node } from '../../../deploy/targets/node/target.ts'
import { modernRequest } from '../../contract/wire.ts'
import { AUDIENCE, type Issuer, startIssuer } from '../../unit/auth/_issuer.ts'
import { type ServedArtefact, serveArtefact, withEnv } from '../_artefact.ts'

type Run = Pick<Target, 'build' | 'preview'>

/** Workers have variables, and no environment. */
const onWorkerd = (issuer: string): Run => ({
  ...cloudflare,
  preview: (outDir, options) => {
    const launch = cloudflare.preview(outDir, options)
    return { ...launch, args: [...launch.args, '--var', `ISSUER:${issuer}`] }
  },
})

describe.each<[string, (issuer: string) => Run]>([
  ['workerd', onWorkerd],
  ['deno', (issuer) => withEnv(deno, { ISSUER: issuer })],
  ['Node', (issuer) => withEnv(node, { ISSUER: issuer })],
])('on %s', (_name, targetFor) => {
  let issuer: Issuer
  let served: ServedArtefact
  beforeAll(async () => {
    issuer = await startIssuer()
    served = await serveArtefact('test/runtimes/auth/issuer-fixture.ts', targetFor(issuer.url))
  })
  afterAll(async () => {
    await served?.stop()
    await issuer?.[Symbol.asyncDispose]()
  })

  const statusOf = async (path: string, token: string): Promise<number> => {
    const headers = { authorization: `Bearer ${token}` }
    const response = await fetch(modernRequest(new URL(path, served.url), 'server/discover', {}, { headers }))
    await response.text()
    return response.status
  }

  it('keys are found by the metadata of the issuer [auth.keys]', async () => {
    expect(await statusOf('/mcp', await issuer.sign())).toBe(200)
    expect(await statusOf('/mcp', await issuer.sign({ aud: 'https://other.example' }))).toBe(401)
    expect(issuer.asked.get('/jwks')).toBe(1)
  })

  it('the issuer is asked about a token [auth.introspection]', async () => {
    issuer.known.set('good', { active: true, aud: AUDIENCE, sub: 'ann' })
    expect(await statusOf('/asked', 'good')).toBe(200)
    expect(await statusOf('/asked', 'bad')).toBe(401)
  })

  it('that fails for one crafted token answers about all others [auth.outage]', async () => {
    issuer.crafted = { status: 500, body: '' }
    expect(await statusOf('/asked', 'crafted')).toBe(503)
    for (let n = 0; n < 8; n++) {
      issuer.known.set(`other-${n}`, { active: true, aud: AUDIENCE, sub: 'ann' })
      expect(await statusOf('/asked', `other-${n}`)).toBe(200)
    }
  })

  it('that fails is asked once about many tokens [auth.outage]', async () => {
    issuer.asked.clear()
    issuer.broken = { status: 500, body: '' }
    for (let n = 0; n < 5; n++) expect(await statusOf('/asked', `bad-${n}`)).toBe(503)
    expect(issuer.asked.get('/introspect')).toBeLessThan(5)
    expect(await statusOf('/asked', 'good')).toBe(200)
  })
})
