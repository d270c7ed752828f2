/**
 * `mayfly deploy --target cloudflare`: the real wrangler, against Cloudflare's API as far as it needs it. The double's paths, error codes
 * and results are those that wrangler's own code asks for and reads (`wrangler-dist/cli.js` of 4.155.0, compared on 2026-11-22).
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { cloudflare } from '../../deploy/targets/cloudflare/target.ts'
import { answerAsCloudflare, createCloudflareAnswer } from './_cloudflare-api.ts'
import { formOf, startDouble } from './_double.ts'
import { createProject, expectToServe, installed, SECRET } from './_project.ts'
import { HOSTILE_SECRETS, withWatch } from './_watch.ts'

const ACCOUNT = {
  CLOUDFLARE_API_TOKEN: 'token',
  CLOUDFLARE_ACCOUNT_ID: 'acc',
  WRANGLER_SEND_METRICS: 'false',
  WRANGLER_HIDE_BANNER: 'true',
}

it('wrangler uploads what was built, with the secret as a secret; the upload serves official clients', async () => {
  using project = createProject({ wrangler: installed('wrangler', 'tools') })
  await using api = await startDouble(answerAsCloudflare)

  const { code, output } = await project.deploy('cloudflare', ['--yes', '--secret', 'MAYFLY_SECRET'], {
    CLOUDFLARE_API_BASE_URL: `${api.url}/client/v4`,
    CLOUDFLARE_API_TOKEN: 'token',
    CLOUDFLARE_ACCOUNT_ID: 'acc',
    WRANGLER_SEND_METRICS: 'false',
    WRANGLER_HIDE_BANNER: 'true',
  })

  expect(output).not.toContain(SECRET)
  expect(code, output).toBe(0)
  expect(output).toMatch(/deployed https:\/\/shop\.shop\.workers\.dev\/mcp\n/)
  const upload = api.received.find(
    ({ method, path }) => method !== 'GET' && /\/scripts\/shop(?:\/versions)?(?:\?|$)/.test(path),
  )
  const form = await formOf(upload!)
  const metadata = JSON.parse(await text(form.get('metadata'))) as { bindings: object[]; main_module: string }
  expect(metadata.bindings).toContainEqual({ name: 'MAYFLY_SECRET', type: 'secret_text', text: SECRET })
  const files = project.artefact('cloudflare')
  for (const [name, content] of files) expect(content, name).not.toContain(SECRET)
  // Stack traces name the sources.
  expect([...form.keys()]).toContain(`${metadata.main_module}.map`)
  const script = await text(form.get(metadata.main_module))
  expect(script).toBe(files.get('server.js'))

  const uploaded = join(project.folder, 'uploaded')
  mkdirSync(uploaded)
  writeFileSync(join(uploaded, 'server.js'), script)
  writeFileSync(join(uploaded, 'wrangler.json'), files.get('wrangler.json')!)
  await expectToServe(cloudflare, uploaded, project.folder)
})

it('hostile values are stored as they are, and are in no output, process list or file', async () => {
  using project = createProject({ wrangler: installed('wrangler', 'tools') })
  await using api = await startDouble(answerAsCloudflare)
  const { values, names } = HOSTILE_SECRETS
  const named = names.flatMap((name) => ['--secret', name])

  const { code, output, leaks } = await withWatch(project, (env) =>
    project.deploy('cloudflare', ['--yes', ...named], {
      ...env,
      CLOUDFLARE_API_BASE_URL: `${api.url}/client/v4`,
      CLOUDFLARE_API_TOKEN: 'token',
      CLOUDFLARE_ACCOUNT_ID: 'acc',
      WRANGLER_SEND_METRICS: 'false',
      WRANGLER_HIDE_BANNER: 'true',
    }),
  )

  expect(code, output).toBe(0)
  expect(leaks).toEqual([])
  const upload = api.received.find(
    ({ method, path }) => method !== 'GET' && /\/scripts\/shop(?:\/versions)?(?:\?|$)/.test(path),
  )
  const metadata = JSON.parse(await text((await formOf(upload!)).get('metadata'))) as {
    bindings: { type: string; name: string; text: string }[]
  }
  const secrets = metadata.bindings.filter(({ type }) => type === 'secret_text')
  expect(Object.fromEntries(secrets.map(({ name, text }) => [name, text]))).toEqual(values)
})

it('wrangler lists, stores and removes secrets, and no value is printed', async () => {
  using project = createProject({ wrangler: installed('wrangler', 'tools') })
  const stored = new Map([['OTHER', 'kept']])
  await using api = await startDouble((request) => {
    const { method, path, body } = request
    if (!path.includes('/secrets')) return answerAsCloudflare(request)
    if (method === 'PATCH') {
      const { secrets } = JSON.parse(body.toString()) as { secrets: Record<string, { text: string } | null> }
      for (const [name, secret] of Object.entries(secrets)) {
        if (secret === null) stored.delete(name)
        else stored.set(name, secret.text)
      }
    }
    const result = [...stored.keys()].map((name) => ({ name, type: 'secret_text' }))
    return { json: { success: true, errors: [], messages: [], result } }
  })
  const env = { ...ACCOUNT, CLOUDFLARE_API_BASE_URL: `${api.url}/client/v4` }
  const secrets = (...args: string[]) => project.run(['secrets', ...args, '--target', 'cloudflare'], env)

  const set = await secrets('set', 'MAYFLY_SECRET')
  expect(set.code, set.output).toBe(0)
  expect(stored).toEqual(
    new Map([
      ['OTHER', 'kept'],
      ['MAYFLY_SECRET', SECRET],
    ]),
  )
  const listed = await secrets('list')
  expect(listed.output).toMatch(/^MAYFLY_SECRET {2}age not told\nOTHER/m)
  const removed = await secrets('remove', 'MAYFLY_SECRET')
  expect(removed.code, removed.output).toBe(0)
  expect([...stored.keys()]).toEqual(['OTHER'])
  for (const { output } of [set, listed, removed]) expect(output).not.toContain(SECRET)
})

it('wrangler removes the Worker of the stage, and not that of production', async () => {
  using project = createProject({ wrangler: installed('wrangler', 'tools') })
  project.write(
    'wrangler.toml',
    'name = "shop"\nmain = "server.ts"\ncompatibility_date = "2026-10-01"\n[env.staging]\n',
  )
  await using api = await startDouble((request) => {
    const ok = (result: unknown) => ({ json: { success: true, errors: [], messages: [], result } })
    if (/\/(?:kv\/namespaces|references|tails)\b/.test(request.path))
      return ok(request.path.includes('references') ? {} : [])
    if (request.method === 'DELETE') return ok(null)
    if (request.path.includes('/deployments')) return ok({ deployments: [{ id: 'd', versions: [] }] })
    return answerAsCloudflare(request)
  })
  const env = { ...ACCOUNT, CLOUDFLARE_API_BASE_URL: `${api.url}/client/v4` }

  const args = ['destroy', '--stage', 'staging', '--target', 'cloudflare', '--confirm', 'shop-staging']
  const { code, output } = await project.run(args, env)

  expect(code, output).toBe(0)
  const removed = api.received.filter(({ method }) => method === 'DELETE').map(({ path }) => path)
  expect(removed).toEqual([expect.stringMatching(/\/(?:services|scripts)\/shop-staging\b/)])
})

function text(part: FormDataEntryValue | null): Promise<string> {
  return new Response(part).text()
}

it('a Worker of that name that nothing names is not replaced', async () => {
  using project = createProject({ wrangler: installed('wrangler', 'tools') })
  await using api = await startDouble(createCloudflareAnswer(['shop', 'shop-staging']))
  const env = { ...ACCOUNT, CLOUDFLARE_API_BASE_URL: `${api.url}/client/v4` }

  for (const args of [[], ['--stage', 'staging'], ['--stage', 'staging', '--yes']]) {
    const { code, output } = await project.deploy('cloudflare', args, env)
    expect(code, output).toBe(1)
    expect(output).toMatch(/mayfly: the Worker shop\S* (?:exists already, and )?may be another project's: /)
  }
  expect(api.received.filter(({ method }) => method === 'PUT' || method === 'POST')).toEqual([])
})

it('--stage: the environment’s own Worker gets the code, the secret and MAYFLY_STAGE, even with CLOUDFLARE_ENV', async () => {
  using project = createProject({ wrangler: installed('wrangler', 'tools') })
  project.write(
    'wrangler.toml',
    'name = "shop"\ncompatibility_date = "2026-10-01"\n[env.staging]\n[env.other]\n',
  )
  project.write('.env.staging', 'MAYFLY_SECRET=of-staging-0123456789abcdef0123456789\n')
  await using api = await startDouble(createCloudflareAnswer(['shop', 'shop-staging']))
  const env = { ...ACCOUNT, CLOUDFLARE_API_BASE_URL: `${api.url}/client/v4`, CLOUDFLARE_ENV: 'other' }

  const args = ['--stage', 'staging', '--secret', 'MAYFLY_SECRET']
  const { code, output } = await project.deploy('cloudflare', args, env)

  expect(code, output).toBe(0)
  expect(output).toContain(
    'deploys staging: the Worker shop-staging in acc, named by wrangler.toml: it exists, and gets a new version\n',
  )
  expect(output).toContain('deployed https://shop-staging.shop.workers.dev/mcp\n')
  const changes = api.received.filter(({ method }) => method !== 'GET')
  for (const { path } of changes) expect(path).toMatch(/\/shop-staging\b/)
  const upload = changes.find(({ headers }) => headers.get('content-type')?.startsWith('multipart/form-data'))
  const metadata = JSON.parse(await text((await formOf(upload!)).get('metadata'))) as { bindings: object[] }
  expect(metadata.bindings).toContainEqual({ name: 'MAYFLY_STAGE', type: 'plain_text', text: 'staging' })
  expect(metadata.bindings).toContainEqual({
    name: 'MAYFLY_SECRET',
    type: 'secret_text',
    text: 'of-staging-0123456789abcdef0123456789',
  })
})

it('rollback to a version of another Worker changes nothing: wrangler looks for it in the Worker of the stage', async () => {
  using project = createProject({ wrangler: installed('wrangler', 'tools') })
  project.write(
    'wrangler.toml',
    'name = "shop"\nmain = "server.ts"\ncompatibility_date = "2026-10-01"\n[env.staging]\n',
  )
  const own = createCloudflareAnswer(['shop', 'shop-staging'])
  const version = (id: string) => ({ id, number: 1, metadata: { created_on: '2026-11-01' }, resources: {} })
  await using api = await startDouble((request) => {
    const [, script, id] = /\/scripts\/([\w-]+)\/versions\/([\w-]+)/.exec(request.path) ?? []
    if (id === undefined) return own(request)
    // `s1` is a version of the stage, and `p1` one of production.
    if (id === 'v' || id.startsWith(script === 'shop' ? 'p' : 's'))
      return { json: { success: true, errors: [], messages: [], result: version(id) } }
    const errors = [{ code: 10007, message: 'This version does not exist on your account.' }]
    return { status: 404, json: { success: false, errors, messages: [], result: null } }
  })
  const env = { ...ACCOUNT, CLOUDFLARE_API_BASE_URL: `${api.url}/client/v4` }
  const goBack = (to: string) =>
    project.run(['rollback', '--stage', 'staging', '--to', to, '--yes', '--target', 'cloudflare'], env)
  const changes = () => api.received.filter(({ method }) => method !== 'GET')

  const refused = await goBack('p1')
  expect(refused.code, refused.output).toBe(1)
  expect(changes()).toEqual([])

  const { code, output } = await goBack('s1')
  expect(code, output).toBe(0)
  expect(changes().map(({ path }) => path)).toEqual([
    expect.stringContaining('/scripts/shop-staging/deployments'),
  ])
})
