/** The workflow that `mayfly init` writes: a tag deploys. */
import { expect, it } from 'vitest'
import { projectFiles } from '../../deploy/init/project-template.ts'
import { findTarget, targets } from '../../deploy/targets/all.ts'

const PATH = '.github/workflows/deploy.yml'

function workflowOf(...names: string[]): string | undefined {
  const chosen = names.map((name) => [name, findTarget(name)] as const)
  return projectFiles({ name: 'shop', templates: new Set(['auth']), targets: chosen }).get(PATH)
}

it.each([...targets].filter(([, { isOwnMachine }]) => !isOwnMachine).map(([name]) => name))(
  '%s: says what to set up, and hands every variable to the deployment',
  (name) => {
    const text = workflowOf(name)!
    const { ci } = findTarget(name).files({ name: 'shop' })
    expect(text).toMatch(/^on:\n {2}push:\n {4}tags: \['v\*'\]$/m)
    expect(text).toMatch(/^permissions:\n {2}contents: read$/m)
    expect(text).toContain(
      `      - run: npx mayfly deploy --target ${name} --secret MAYFLY_SECRET --secret API_TOKEN --check --check-bearer-env API_TOKEN`,
    )
    for (const line of ci!.setUp) expect(text).toContain(`#   ${line}\n`)
    for (const secret of ['MAYFLY_SECRET', 'API_TOKEN', ...(ci!.secrets ?? [])])
      expect(text).toContain(`          ${secret}: \${{ secrets.${secret} }}\n`)
    for (const variable of ci!.variables ?? [])
      expect(text).toContain(`          ${variable}: \${{ vars.${variable} }}\n`)
    // A tab, or a line that is not indented by two, is no YAML of ours.
    for (const line of text.split('\n')) expect(line).toMatch(/^(?: {2})*(?:\S|$)/)
  },
)

it('lambda: no key is kept, and GitHub’s own token is for that job alone', () => {
  const text = workflowOf('lambda', 'cloudflare')!
  expect(text).not.toMatch(/AWS_(?:ACCESS|SECRET)/)
  expect(text.match(/id-token: write/g)).toHaveLength(1)
  expect(text.indexOf('id-token: write')).toBeLessThan(text.indexOf('\n  cloudflare:\n'))
})

it('lambda: the workflow hands over the bucket and the boundary of its role', () => {
  const text = workflowOf('lambda')!
  expect(text).toMatch(/ --check --check-bearer-env API_TOKEN -- \$AWS_DEPLOY_OPTIONS\n/)
  expect(text).toContain(`          AWS_DEPLOY_OPTIONS: \${{ vars.AWS_DEPLOY_OPTIONS }}\n`)
  expect(workflowOf('vercel')).toMatch(/ --check --check-bearer-env API_TOKEN\n/)
})

it('a server for machines of one’s own has none', () => {
  expect(workflowOf('node', 'bun')).toBeUndefined()
})
