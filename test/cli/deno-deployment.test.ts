/** What `mayfly deploy --target deno` would run. `deno deploy` itself is downloaded at its first use, and not run here. */
import { afterEach, expect, it, vi } from 'vitest'
import { deno } from '../../deploy/targets/deno/target.ts'
import { Project } from './_dev-process.ts'

const SECRETS = new Map([['MAYFLY_SECRET', 'abc']])

function commands(project: Project, extra: readonly string[] = []): string[] {
  const { steps } = deno.deployment(
    '/out',
    { cwd: project.folder, entry: '/server.ts', name: 'shop' },
    { secrets: SECRETS, extra },
  )
  return steps.map(({ args }) => args.join(' '))
}

afterEach(() => vi.unstubAllEnvs())

it('the app is the project’s name, and a variable that is there already is replaced', async () => {
  await using project = new Project()
  expect(commands(project, ['--no-wait'])).toEqual([
    'deploy env load /dev/stdin --replace --app shop --non-interactive',
    'deploy --prod --app shop --non-interactive --no-wait',
  ])
})

it('what deno deploy has written into the project’s configuration goes to every step', async () => {
  await using project = new Project()
  project.write(
    'deno.jsonc',
    '{ // "deploy": {}\n "imports": { "a": "https://example.com/a" },\n "deploy": { "org": "acme", "app": "till", }, }',
  )
  expect(commands(project)).toEqual([
    'deploy env load /dev/stdin --replace --org acme --app till --non-interactive',
    'deploy --prod --org acme --app till --non-interactive',
  ])
})

it('the environment comes first', async () => {
  await using project = new Project()
  project.write('deno.json', '{ "deploy": { "org": "acme", "app": "till" } }')
  vi.stubEnv('DENO_DEPLOY_ORG', 'other')
  vi.stubEnv('DENO_DEPLOY_APP', 'staging')
  expect(commands(project)[1]).toBe('deploy --prod --org other --app staging --non-interactive')
})

it('an empty variable, as GitHub makes of one that is not set, is none', async () => {
  await using project = new Project()
  project.write('deno.json', '{ "deploy": { "org": "acme" } }')
  vi.stubEnv('DENO_DEPLOY_ORG', '')
  vi.stubEnv('DENO_DEPLOY_APP', '')
  expect(commands(project)[1]).toBe('deploy --prod --org acme --app shop --non-interactive')
})
