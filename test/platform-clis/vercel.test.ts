/**
 * `mayfly deploy --target vercel`: the real Vercel CLI, against its API as far as it needs it. The double's paths, headers and errors
 * (`x-now-digest`, `missing_files`) are those that the CLI's own code asks for and reads (`dist` of 58.10.0, compared on 2026-11-22).
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
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
}, 90_000)
