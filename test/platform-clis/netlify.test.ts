/**
 * How `mayfly deploy --target netlify` stores secrets: by Netlify's own CLI, against its API as far as it needs it. The double is
 * written from @netlify/open-api 2.60.0 (`createEnvVars`, `updateEnvVar`, `getEnvVar`, `getSite`), and refuses scopes on a free plan
 * as netlify/terraform-provider-netlify#57 shows it.
 */
import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type Received, type Reply, startDouble } from './_double.ts'
import { createProject, installed } from './_project.ts'
import { HOSTILE_SECRETS, withWatch } from './_watch.ts'

const SITE = '3f0e9e8a-1c1b-4a5e-9a56-0c1b7d9f2a10'

/** @param takesScopes as on paid plans. */
function createAnswer(known: readonly string[], takesScopes: boolean): (request: Received) => Reply {
  return ({ method, path, body }) => {
    if (path.startsWith(`/api/v1/sites/${SITE}`))
      return { json: { id: SITE, name: 'shop', account_slug: 'acme', account_id: 'a' } }
    const [, key] = /\/accounts\/acme\/env\/(\w+)/.exec(path) ?? []
    if (method === 'GET' && key !== undefined)
      return known.includes(key)
        ? { json: { key } }
        : { status: 404, json: { code: 404, message: 'Not Found' } }
    if (method === 'POST' || method === 'PUT') {
      const [{ scopes }] = [JSON.parse(body.toString())].flat() as [{ scopes: string[] }]
      const isFree = scopes.join() === 'builds,functions,runtime'
      if (!takesScopes && !isFree)
        return {
          status: 403,
          json: { code: 403, message: 'Upgrade your Netlify account to set specific scopes' },
        }
      // Netlify's answer holds the values: the CLI prints it.
      return { status: 201, json: JSON.parse(body.toString()) }
    }
    return { json: {} }
  }
}

interface Sent {
  readonly method: string
  readonly key: string
  readonly is_secret: boolean
  readonly scopes: readonly string[]
  readonly values: readonly { readonly context: string; readonly value: string }[]
}

function sentTo(received: readonly Received[]): Sent[] {
  return received
    .filter(({ method }) => method === 'POST' || method === 'PUT')
    .filter(({ path }) => /\/accounts\/acme\/env/.test(path) && path.includes(`site_id=${SITE}`))
    .map(({ method, body }) => ({
      method,
      ...([JSON.parse(body.toString())].flat()[0] as Omit<Sent, 'method'>),
    }))
}

const CLI = installed('netlify-cli', 'tools')

/** It has a thousand packages: `npm run test:newest-clis` installs it. */
const withCli = describe.runIf(existsSync(CLI))

withCli('mayfly deploy --target netlify', () => {
  it.each([
    ['a paid plan', true, [['functions']]],
    ['a free plan', false, [['functions'], ['builds', 'functions', 'runtime']]],
  ] as const)(
    'on %s, hostile values are stored as secrets, and are in no output, process list or file',
    async (_plan, takesScopes, scopes) => {
      using project = createProject({
        'netlify-cli': CLI,
        esbuild: installed('esbuild', 'repository'),
      })
      await using api = await startDouble(createAnswer(['API_KEY'], takesScopes))
      const { values, names } = HOSTILE_SECRETS

      const args = [...names.flatMap((name) => ['--secret', name]), '--', '--site', SITE, '--no-build']
      const { output, leaks } = await withWatch(project, (env) =>
        project.deploy('netlify', args, { ...env, NETLIFY_AUTH_TOKEN: 'token', NETLIFY_API_URL: api.url }),
      )

      expect(leaks).toEqual([])
      const sent = sentTo(api.received)
      for (const name of names) {
        const one = sent.filter(({ key }) => key === name)
        expect(
          one.map((body) => body.scopes),
          output,
        ).toEqual(scopes)
        expect(one.at(-1)).toMatchObject({
          method: name === 'API_KEY' ? 'PUT' : 'POST',
          is_secret: true,
          values: ['production', 'deploy-preview', 'branch-deploy'].map((context) => ({
            context,
            value: values[name],
          })),
        })
      }
      // The upload itself fails: the double has no files to take.
      expect(output).toContain('upload the site')
    },
  )

  it('what Netlify refuses is one line without the value', async () => {
    using project = createProject({
      'netlify-cli': CLI,
      esbuild: installed('esbuild', 'repository'),
    })
    await using api = await startDouble((request) =>
      request.path.startsWith('/api/v1/sites/')
        ? { json: { id: SITE, account_slug: 'acme' } }
        : { status: 422, json: { code: 422, message: `no good: ${request.body.toString()}` } },
    )
    const value = 'a-value-that-netlify-sends-back'
    const args = ['--secret', 'API_KEY', '--', '--site', SITE]
    const env = { API_KEY: value, NETLIFY_AUTH_TOKEN: 'token', NETLIFY_API_URL: api.url }

    const { code, output } = await project.deploy('netlify', args, env)

    expect(code).toBe(1)
    expect(output).not.toContain(value)
    expect(output).toMatch(/mayfly: Netlify did not take API_KEY[^\n]*: set it in Netlify's dashboard/)
    expect(output).not.toContain('upload the site')
  })
})
