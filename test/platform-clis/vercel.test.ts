/**
 * `mayfly deploy --target vercel`: the real Vercel CLI, against its API as far as it needs it. The double's paths, headers and errors
 * (`x-now-digest`, `missing_files`) are those that the CLI's own code asks for and reads (`dist` of 58.10.0, compared on 2026-11-22).
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Target } from '../../deploy/contract/target.ts'
import { vercel, vercelEdge } from '../../deploy/targets/vercel/target.ts'
import { startDouble } from './_double.ts'
import { createProject, expectToServe, installed, SECRET } from './_project.ts'
import { createVercelAnswer, type DeploymentFile } from './_vercel-api.ts'
import { HOSTILE_SECRETS, withWatch } from './_watch.ts'

it.each<[string, Target]>([
  ['vercel', vercel],
  ['vercel-edge', vercelEdge],
])(
  'the Vercel CLI uploads what %s was built to, with the secret as sensitive; the upload serves official clients',
  async (name, target) => {
    using project = createProject({
      vercel: installed('vercel', 'tools'),
      'edge-runtime': installed('edge-runtime', 'repository'),
      esbuild: installed('esbuild', 'repository'),
    })
    project.write(
      '.vercel/project.json',
      '{ "orgId": "team_x", "projectId": "prj_x", "projectName": "shop" }',
    )
    await using api = await startDouble(createVercelAnswer())

    const { code, output } = await project.deploy(
      name,
      ['--secret', 'MAYFLY_SECRET', '--', '--token', 'token', '--api', api.url],
      { VERCEL_TOKEN: 'token', VERCEL_TELEMETRY_DISABLED: '1' },
    )

    expect(output).not.toContain(SECRET)
    expect(code, output).toBe(0)
    expect(output).toContain('deployed https://shop.localhost/mcp\n')
    const variable = api.received.find(({ method, path }) => method === 'POST' && /\/env\b/.test(path))
    const sent = [JSON.parse(variable!.body.toString()) as object].flat()
    expect(sent).toMatchObject([
      { key: 'MAYFLY_SECRET', value: SECRET, type: 'sensitive', target: ['production'] },
    ])
    const files = project.artefact(name)
    for (const [path, content] of files) expect(content, path).not.toContain(SECRET)

    const contents = new Map(
      api.received
        .filter(({ path }) => path.includes('/files'))
        .map(({ headers, body }) => [headers.get('x-now-digest'), body.toString()]),
    )
    const last = api.received.findLast(
      ({ method, path }) => method === 'POST' && path.includes('/deployments'),
    )
    const uploaded = join(project.folder, 'uploaded')
    const { files: listed } = JSON.parse(last!.body.toString()) as { files: DeploymentFile[] }
    for (const { file, sha } of listed) {
      mkdirSync(dirname(join(uploaded, file)), { recursive: true })
      writeFileSync(join(uploaded, file), contents.get(sha)!)
      expect(contents.get(sha), file).toBe(files.get(file))
    }
    await expectToServe(target, uploaded, project.folder)
  },
  90_000,
)

it('hostile values are stored as they are, and are in no output, process list or file', async () => {
  using project = createProject({
    vercel: installed('vercel', 'tools'),
    esbuild: installed('esbuild', 'repository'),
  })
  project.write('.vercel/project.json', '{ "orgId": "team_x", "projectId": "prj_x", "projectName": "shop" }')
  await using api = await startDouble(createVercelAnswer())
  const { values, names } = HOSTILE_SECRETS
  const named = names.flatMap((name) => ['--secret', name])

  const { code, output, leaks } = await withWatch(project, (env) =>
    project.deploy('vercel', [...named, '--', '--token', 'token', '--api', api.url], {
      ...env,
      VERCEL_TOKEN: 'token',
      VERCEL_TELEMETRY_DISABLED: '1',
    }),
  )

  expect(code, output).toBe(0)
  expect(leaks).toEqual([])
  const sent = api.received
    .filter(({ method, path }) => method === 'POST' && /\/env\b/.test(path))
    .flatMap(({ body }) => [JSON.parse(body.toString()) as { key: string; value: string }].flat())
  expect(Object.fromEntries(sent.map(({ key, value }) => [key, value]))).toEqual(values)
})

it('the Vercel CLI lists, stores and removes variables, and no value is printed', async () => {
  using project = createProject({ vercel: installed('vercel', 'tools') })
  project.write('.vercel/project.json', '{ "orgId": "team_x", "projectId": "prj_x", "projectName": "shop" }')
  const createdAt = Date.parse('2026-11-01T10:00:00Z')
  const variable = (id: string, key: string) => ({
    ...{ id, key, type: 'sensitive', target: ['production'] },
    ...{ createdAt, updatedAt: createdAt, value: '' },
  })
  let stored = [variable('env_o', 'OTHER')]
  const answer = createVercelAnswer()
  await using api = await startDouble((request) => {
    const { method, path, body } = request
    if (!/\/env\b/.test(path)) return answer(request)
    if (method === 'DELETE') stored = stored.filter(({ id }) => !path.includes(id))
    if (method === 'POST') {
      const [{ key }] = [JSON.parse(body.toString())].flat() as [{ key: string }]
      stored.push(variable('env_m', key))
      return { json: { created: {}, failed: [] } }
    }
    return { json: { envs: stored } }
  })
  const secrets = (...args: string[]) =>
    project.run(['secrets', ...args, '--target', 'vercel', '--', '--token', 'token', '--api', api.url], {
      VERCEL_TOKEN: 'token',
      VERCEL_TELEMETRY_DISABLED: '1',
    })

  const set = await secrets('set', 'MAYFLY_SECRET')
  expect(set.code, set.output).toBe(0)
  const sent = api.received.find(({ method, path }) => method === 'POST' && /\/env\b/.test(path))
  expect([JSON.parse(sent!.body.toString())].flat()).toMatchObject([{ key: 'MAYFLY_SECRET', value: SECRET }])
  const listed = await secrets('list')
  expect(listed.output).toMatch(
    /^MAYFLY_SECRET {2}written 2026-11-01 10:00 UTC\nOTHER {10}written 2026-11-01 10:00 UTC$/m,
  )
  const removed = await secrets('remove', 'MAYFLY_SECRET')
  expect(removed.code, removed.output).toBe(0)
  expect(stored.map(({ key }) => key)).toEqual(['OTHER'])
  for (const { output } of [set, listed, removed]) expect(output).not.toContain(SECRET)
})

describe('not linked', () => {
  const tools = () => ({
    vercel: installed('vercel', 'tools'),
    esbuild: installed('esbuild', 'repository'),
  })
  const env = {
    VERCEL_TOKEN: 'token',
    VERCEL_TELEMETRY_DISABLED: '1',
    VERCEL_ORG_ID: '',
    VERCEL_PROJECT_ID: '',
  }
  const options = (url: string): string[] => ['--', '--token', 'token', '--api', url, '--scope', 'me']

  it.each([[[]], [['--stage', 'staging']]])(
    'a project of that name is not taken: %j',
    async (stage) => {
      using project = createProject(tools())
      await using api = await startDouble(createVercelAnswer(['shop', 'shop-staging']))

      const { code, output } = await project.deploy('vercel', [...stage, '--yes', ...options(api.url)], env)

      expect(code, output).toBe(1)
      expect(output).toMatch(
        /mayfly: the project shop\S* (?:exists already, and )?may be another project's: /,
      )
      expect(api.received.filter(({ method }) => method !== 'GET')).toEqual([])
    },
    90_000,
  )

  it.each([
    [[], 'shop', {}],
    [['--stage', 'staging'], 'shop-staging', { MAYFLY_STAGE: 'staging' }],
  ] as const)(
    'a project of the server’s name is created, not one named after the folder: %j',
    async (stage, name, variables) => {
      using project = createProject(tools())
      const mayfly = { stages: { staging: { vercel: 'shop-staging' } } }
      project.write('package.json', JSON.stringify({ name: 'shop', type: 'module', mayfly }))
      await using api = await startDouble(createVercelAnswer())

      const args = [...stage, '--yes', '--secret', 'MAYFLY_SECRET', ...options(api.url)]
      const { code, output } = await project.deploy('vercel', args, env)

      expect(code, output).toBe(0)
      expect(output).not.toContain(SECRET)
      const posted = api.received.filter(({ method }) => method === 'POST')
      const bodyOf = (path: RegExp): object =>
        JSON.parse(posted.find((request) => path.test(request.path))!.body.toString()) as object
      expect(bodyOf(/\/projects\?/)).toMatchObject({ name })
      expect(posted.some(({ path }) => path.includes(`/projects/prj_${name}/env`))).toBe(true)
      expect(bodyOf(/\/deployments/)).toMatchObject({ name, target: 'production', env: variables })
    },
    90_000,
  )
})

it('--stage: the project that package.json names is deployed, and production’s is not touched', async () => {
  using project = createProject({
    vercel: installed('vercel', 'tools'),
    esbuild: installed('esbuild', 'repository'),
  })
  project.write('.vercel/project.json', '{ "orgId": "team_x", "projectId": "prj_x", "projectName": "shop" }')
  const mayfly = { stages: { staging: { vercel: 'till-test' } } }
  project.write('package.json', JSON.stringify({ name: 'shop', type: 'module', mayfly }))
  await using api = await startDouble(createVercelAnswer(['till-test']))

  const { code, output } = await project.deploy(
    'vercel',
    ['--stage', 'staging', '--secret', 'MAYFLY_SECRET', '--', '--token', 'token', '--api', api.url],
    {
      VERCEL_TOKEN: 'token',
      VERCEL_TELEMETRY_DISABLED: '1',
      VERCEL_ORG_ID: 'team_x',
      VERCEL_PROJECT_ID: 'prj_x',
    },
  )

  expect(code, output).toBe(0)
  expect(output).toContain(
    'deploys staging: the project till-test in team_x, named by package.json: it exists, and gets a new version\n',
  )
  for (const { method, path, body } of api.received) {
    expect(path).not.toContain('prj_x')
    if (method === 'POST' && path.includes('/deployments'))
      expect(JSON.parse(body.toString())).toMatchObject({
        name: 'till-test',
        env: { MAYFLY_STAGE: 'staging' },
      })
  }
}, 90_000)

it('the Vercel CLI removes the project of the stage, and not that of production', async () => {
  using project = createProject({ vercel: installed('vercel', 'tools') })
  project.write('.vercel/project.json', '{ "orgId": "team_x", "projectId": "prj_x", "projectName": "shop" }')
  const stages = { staging: { vercel: 'shop-staging' } }
  project.write('package.json', JSON.stringify({ name: 'shop', type: 'module', mayfly: { stages } }))
  const answer = createVercelAnswer()
  await using api = await startDouble((request) => {
    if (/\/projects\/(?:prj_s|shop-staging)\b/.test(request.path))
      return { json: { id: 'prj_s', name: 'shop-staging', accountId: 'team_x', link: null } }
    return answer(request)
  })

  const { code, output } = await project.run(
    [
      ...['destroy', '--stage', 'staging', '--confirm', 'shop-staging', '--target', 'vercel'],
      ...['--', '--token', 'token', '--api', api.url],
    ],
    { VERCEL_TOKEN: 'token', VERCEL_TELEMETRY_DISABLED: '1' },
  )

  expect(code, output).toBe(0)
  const removed = api.received.filter(({ method }) => method === 'DELETE').map(({ path }) => path)
  expect(removed).toEqual([expect.stringMatching(/\/projects\/prj_s\b/)])
}, 90_000)

describe('rollback', () => {
  const shop = { id: 'dpl_p', url: 'shop-1-me.vercel.app', projectId: 'prj_x' }
  const beside = { id: 'dpl_s', url: 'shop-staging-1-me.vercel.app', projectId: 'prj_shop-staging' }

  /** The CLI's deployments, by id and by host, and the requests that change a project. */
  async function goBack(args: readonly string[]) {
    using project = createProject({ vercel: installed('vercel', 'tools') })
    project.write(
      '.vercel/project.json',
      '{ "orgId": "team_x", "projectId": "prj_x", "projectName": "shop" }',
    )
    const stages = { staging: { vercel: 'shop-staging' } }
    project.write('package.json', JSON.stringify({ name: 'shop', type: 'module', mayfly: { stages } }))
    const answer = createVercelAnswer(['shop-staging'])
    await using api = await startDouble((request) => {
      const [, wanted] = /^\/v13\/deployments\/([^/?]+)/.exec(request.path) ?? []
      const found = [shop, beside].find(({ id, url }) => id === wanted || url === wanted)
      if (found !== undefined) return { json: { ...found, team: { id: 'team_x' }, readyState: 'READY' } }
      if (/\/rollback\//.test(request.path)) return { json: {} }
      // The name of prj_x.
      if (/^\/v9\/projects\/shop(?:\?|$)/.test(request.path))
        return { json: { id: 'prj_x', name: 'shop', accountId: 'team_x', link: null } }
      return answer(request)
    })
    const { code, output } = await project.run(
      ['rollback', ...args, '--yes', '--target', 'vercel', '--', '--token', 'token', '--api', api.url],
      { VERCEL_TOKEN: 'token', VERCEL_TELEMETRY_DISABLED: '1' },
    )
    const changed = api.received.filter(({ method }) => method !== 'GET').map(({ path }) => path)
    return { code, output, changed }
  }

  it.each([
    [['--stage', 'staging', '--to', `https://${shop.url}`], 'prj_x', 'prj_shop-staging'],
    [['--stage', 'staging', '--to', shop.id], 'prj_x', 'prj_shop-staging'],
    [['--to', beside.url], 'prj_shop-staging', 'prj_x'],
  ])(
    'a deployment of another project is refused before anything changes: %j',
    async (args, of, own) => {
      const { code, output, changed } = await goBack(args)
      expect(code, output).toBe(1)
      expect(output).toMatch(
        new RegExp(`nothing was changed: \\S+ is a deployment of ${of}, and .* is ${own};`),
      )
      expect(changed).toEqual([])
    },
    90_000,
  )

  it.each([
    [['--to', `https://${shop.url}`], 'prj_x/rollback/dpl_p'],
    [['--stage', 'staging', '--to', beside.url], 'prj_shop-staging/rollback/dpl_s'],
  ])(
    'its own is served again: %j',
    async (args, path) => {
      const { code, output, changed } = await goBack(args)
      expect(code, output).toBe(0)
      expect(changed).toEqual([expect.stringContaining(path)])
    },
    90_000,
  )
})
