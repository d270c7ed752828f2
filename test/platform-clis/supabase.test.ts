/**
 * `mayfly deploy --target supabase`: the real Supabase CLI, against its Management API as far as it needs it. The double's paths and
 * status codes are those of the API's description (`/v1/projects/{ref}/functions/deploy` and `/secrets`, both 201; read on 2026-11-22).
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { toEnvFile } from '../../deploy/project/secrets.ts'
import { supabase } from '../../deploy/targets/supabase/target.ts'
import { type Double, formOf, type Received, type Reply, startDouble } from './_double.ts'
import {
  createProject,
  type DeployProject,
  expectToServe,
  installed,
  type Output,
  SECRET,
} from './_project.ts'
import { HOSTILE_SECRETS, withWatch } from './_watch.ts'

const REF = 'abcdefghijklmnopqrst'

const PROJECT = {
  id: REF,
  ref: REF,
  name: 'shop',
  organization_id: 'o',
  organization_slug: 'o',
  region: 'eu-central-1',
  created_at: '2026-01-01T00:00:00Z',
  status: 'ACTIVE_HEALTHY',
  database: { host: 'localhost', version: '15', postgres_engine: '15', release_channel: 'ga' },
}

const FUNCTION = { id: 'f', slug: 'shop', name: 'shop', version: 1, status: 'ACTIVE', verify_jwt: false }

function answer({ method, path }: Received): Reply {
  if (path === `/v1/projects/${REF}`) return { json: PROJECT }
  if (method === 'POST' && path.includes('/functions/deploy')) {
    return { status: 201, json: { ...FUNCTION, created_at: 1, updated_at: 1, entrypoint_path: 'x' } }
  }
  return { status: method === 'POST' ? 201 : 200, json: [] }
}

function linkedProject(): DeployProject {
  const project = createProject({
    supabase: installed('supabase', 'tools'),
    deno: installed('deno', 'repository'),
  })
  project.write('supabase/.temp/project-ref', REF)
  return project
}

function deploy(
  project: DeployProject,
  api: Double,
  secrets: readonly string[],
  env: Record<string, string>,
  more: readonly string[] = [],
): Promise<Output> {
  const profile = { name: 'double', api_url: api.url, dashboard_url: api.url, project_host: 'localhost' }
  project.write('profile.yaml', JSON.stringify(profile))
  const named = secrets.flatMap((name) => ['--secret', name])
  return project.deploy(
    'supabase',
    [...more, ...named, '--', '--profile', join(project.folder, 'profile.yaml')],
    {
      SUPABASE_ACCESS_TOKEN: `sbp_${'0'.repeat(40)}`,
      SUPABASE_TELEMETRY_DISABLED: '1',
      ...env,
    },
  )
}

it('the Supabase CLI uploads what was built, with the secret to the secrets; the upload serves official clients', async () => {
  using project = linkedProject()
  await using api = await startDouble(answer)

  const { code, output } = await deploy(project, api, ['MAYFLY_SECRET'], {})

  expect(output).not.toContain(SECRET)
  expect(code, output).toBe(0)
  const secrets = api.received.find(({ method, path }) => method === 'POST' && path.endsWith('/secrets'))
  expect(JSON.parse(secrets!.body.toString())).toEqual([{ name: 'SHOP__MAYFLY_SECRET', value: SECRET }])
  const files = project.artefact('supabase')
  for (const [name, content] of files) expect(content, name).not.toContain(SECRET)

  const upload = api.received.find(({ path }) => path.includes('/functions/deploy'))
  const form = await formOf(upload!)
  const metadata = JSON.parse(String(form.get('metadata'))) as {
    entrypoint_path: string
    verify_jwt: boolean
  }
  expect(metadata.verify_jwt).toBe(false)
  const uploaded = join(project.folder, 'uploaded')
  for (const part of form.getAll('file')) {
    if (typeof part === 'string') continue
    const path = join(uploaded, part.name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, await part.text())
    expect(await part.text(), part.name).toBe(files.get(part.name))
  }
  expect(metadata.entrypoint_path).toContain('supabase/functions/shop/index.js')
  await expectToServe(supabase, uploaded, project.folder)
})

it('secrets arrive as they are, whatever they are made of', async () => {
  using project = linkedProject()
  await using api = await startDouble(answer)
  const values = {
    PASSWORD: 'a"b\\n $HOME #c `d`',
    SENTENCE: `it's $HOME #not a comment`,
    PRIVATE_KEY: '-----BEGIN KEY-----\nMIIB+/=\n-----END KEY-----',
  }

  const { code, output } = await deploy(project, api, Object.keys(values), values)

  expect(code, output).toBe(0)
  const secrets = api.received.find(({ method, path }) => method === 'POST' && path.endsWith('/secrets'))
  expect(JSON.parse(secrets!.body.toString())).toEqual(
    Object.entries(values).map(([name, value]) => ({ name: `SHOP__${name}`, value })),
  )
})

it('hostile values are in no output, process list or file', async () => {
  using project = linkedProject()
  await using api = await startDouble(answer)
  const { values, names } = HOSTILE_SECRETS

  const { code, output, leaks } = await withWatch(project, (env) => deploy(project, api, names, env))

  expect(code, output).toBe(0)
  expect(leaks).toEqual([])
  const secrets = api.received.find(({ method, path }) => method === 'POST' && path.endsWith('/secrets'))
  const sent = JSON.parse(secrets!.body.toString()) as { name: string; value: string }[]
  expect(Object.fromEntries(sent.map(({ name, value }) => [name.replace(/^SHOP__/, ''), value]))).toEqual(
    values,
  )
  expect(sent.every(({ name }) => name.startsWith('SHOP__'))).toBe(true)
})

it.each([`it's "so"`, `it's \\so`, `'ends in \\`, 'ends in \\'])(
  'a value %j that no .env file can hold is refused',
  (value) => {
    expect(() => toEnvFile(new Map([['NAME', value]]))).toThrow(
      /the value of NAME cannot be written to a .env file/,
    )
  },
)

it('--stage: the project that package.json names gets the function, its secrets and MAYFLY_STAGE', async () => {
  using project = linkedProject()
  const ref = 'zyxwvutsrqponmlkjihg'
  const mayfly = { stages: { staging: { supabase: ref } } }
  project.write('package.json', JSON.stringify({ name: 'shop', type: 'module', mayfly }))
  await using api = await startDouble((request) =>
    request.path === `/v1/projects/${ref}` ? { json: { ...PROJECT, id: ref, ref } } : answer(request),
  )

  const { code, output } = await deploy(project, api, ['MAYFLY_SECRET'], { SUPABASE_PROJECT_ID: REF }, [
    '--stage',
    'staging',
  ])

  expect(code, output).toBe(0)
  expect(output).toContain(`deployed https://${ref}.supabase.co/functions/v1/shop/mcp\n`)
  const posted = api.received.filter(({ method }) => method === 'POST')
  for (const { path } of posted) expect(path).toContain(ref)
  const secrets = posted.find(({ path }) => path.endsWith('/secrets'))
  expect(JSON.parse(secrets!.body.toString())).toEqual([
    { name: 'SHOP__MAYFLY_SECRET', value: SECRET },
    { name: 'SHOP__MAYFLY_STAGE', value: 'staging' },
  ])
  for (const { path } of api.received) expect(path).not.toContain(REF)
})
