/** The name of a deployment: two packages never share one in silence. */
import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { deploymentName, readProject, refuseSameName } from '../../deploy/project/project.ts'
import { githubRole } from '../../deploy/targets/lambda/github-role.ts'
import { Project } from './_dev-process.ts'

it.each([
  ['shop', 'shop'],
  ['@a/shop', 'a-shop'],
  ['@b/shop', 'b-shop'],
  ['@Shops/My_Shop', 'shops-my-shop'],
  ['123', 'mcp-server'],
  ['7-eleven', 'eleven'],
])('%s is deployed as %s', (named, expected) => {
  expect(deploymentName(named)).toBe(expected)
})

it('a name of more than 40 characters ends in a digest of the whole: two that begin alike stay two', () => {
  const names = ['a', 'b'].map((end) => deploymentName(`@acme/${'long-'.repeat(10)}${end}`))
  expect(new Set(names).size).toBe(2)
  for (const name of names) expect(name).toMatch(/^acme-long-[a-z-]+-[\da-f]{7}$/)
  for (const name of names) expect(name.length).toBeLessThanOrEqual(40)
})

it('the role for GitHub allows the stack of a shortened name', () => {
  const name = deploymentName('@acme/a-server-with-a-name-of-more-than-forty-characters')
  expect(githubRole(name)).toMatch(new RegExp(`Stack:\\s+Type: String\\s+Default: ${name}$`, 'm'))
})

/** A repository whose root has workspaces, and these packages. */
function arrange(packages: { readonly [folder: string]: string }, root: object, pnpm?: string): Project {
  const project = new Project()
  mkdirSync(join(project.folder, '.git'))
  project.write('package.json', JSON.stringify({ name: 'root', ...root }))
  if (pnpm !== undefined) project.write('pnpm-workspace.yaml', pnpm)
  for (const [folder, name] of Object.entries(packages)) {
    mkdirSync(join(project.folder, dirname(`${folder}/x`), 'src'), { recursive: true })
    project.write(`${folder}/package.json`, JSON.stringify({ name }))
    project.write(`${folder}/src/server.ts`, '')
  }
  return project
}

it('the package of the entry counts, not the one of the current folder', async () => {
  await using project = arrange({ 'packages/a': '@acme/till' }, {})
  expect(readProject(project.folder, 'packages/a/src/server.ts').name).toBe('acme-till')
  expect(readProject(join(project.folder, 'packages/a'), undefined).name).toBe('acme-till')
})

it.each([
  [{ workspaces: ['packages/*'] }, undefined],
  [{ workspaces: { packages: ['packages/a', 'packages/b'] } }, undefined],
  [{}, "packages:\n  - 'packages/*'\n"],
] as const)('two packages of a repository with one name are refused: %j %j', async (root, pnpm) => {
  await using project = arrange(
    { 'packages/a': 'my_shop', 'packages/b': 'my-shop', 'packages/c': 'till' },
    root,
    pnpm,
  )
  const of = (folder: string) => readProject(join(project.folder, 'packages', folder), undefined)
  for (const folder of ['a', 'b'])
    expect(() => refuseSameName(of(folder))).toThrow(
      /would both be deployed as my-shop, and replace each other/,
    )
  expect(() => refuseSameName(of('c'))).not.toThrow()
})
