/** The workflow that `mayfly init` writes for pull requests. Its shell steps are run here, with stand-ins for `npx mayfly` and `gh`. */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parse } from 'yaml'
import { projectFiles } from '../../deploy/init/project-template.ts'
import type { Template } from '../../deploy/init/server-template.ts'
import { findTarget, targets } from '../../deploy/targets/all.ts'

interface Step {
  readonly uses?: string
  readonly run?: string
  readonly env?: { readonly [name: string]: string }
}

interface Job {
  readonly if?: string
  readonly environment?: string
  readonly permissions: object
  readonly steps: readonly Step[]
}

interface Workflow {
  readonly on: object
  readonly permissions: object
  readonly jobs: { readonly [name: string]: Job }
}

function textOf(names: readonly string[], ...templates: Template[]): string | undefined {
  const chosen = names.map((name) => [name, findTarget(name)] as const)
  const files = projectFiles({ name: 'shop', templates: new Set(templates), targets: chosen })
  return files.get('.github/workflows/preview.yml')
}

const workflowOf = (...names: string[]): Workflow =>
  parse(textOf(names, 'auth')!, { strict: true, uniqueKeys: true }) as Workflow

/** Runs a step as GitHub does. */
function runStep(step: Step, programs: { readonly [name: string]: string }, env: NodeJS.ProcessEnv = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'mayfly-preview-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const [name, script] of Object.entries(programs))
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  writeFileSync(join(folder, 'outputs'), '')
  const { status } = spawnSync('bash', ['-e', '-c', step.run!], {
    cwd: folder,
    env: { PATH: `${folder}:${process.env.PATH}`, GITHUB_OUTPUT: join(folder, 'outputs'), ...env },
  })
  const read = (name: string): string => readFileSync(join(folder, name), 'utf8')
  return { status, outputs: read('outputs'), read }
}

const WITH = ['deno', 'netlify', 'netlify-edge', 'vercel', 'vercel-edge']

it('there is one where previews have variables of their own: a version of a Worker has production’s', () => {
  const possible = [...targets].filter(([, { hasPreviews }]) => hasPreviews).map(([name]) => name)
  expect(possible.sort()).toEqual(['cloudflare', ...WITH])
  for (const name of targets.keys())
    for (const templates of [[], ['auth'], ['tasks']] as Template[][])
      expect([name, textOf([name], ...templates) !== undefined]).toEqual([name, WITH.includes(name)])
  expect(textOf(['cloudflare', 'deno'])).not.toContain('cloudflare')
})

it('its first lines say what to set up, and what a preview of each platform can read', () => {
  for (const name of WITH) {
    const { ci } = findTarget(name).files({ name: 'shop' })
    const [head = ''] = textOf([name], 'auth')!.split('name: preview')
    for (const line of [...ci!.setUp, `${name}: ${ci!.previewReads}`, 'secret API_TOKEN: one that'])
      expect(head).toContain(`\n#   ${line}`)
    expect(textOf([name])).not.toContain('API_TOKEN')
  }
})

describe.each(WITH)('%s', (name) => {
  it('only this repository’s branches get a token; the job that runs their code may only read; the other runs none of it', () => {
    const { on, permissions, jobs } = workflowOf(name)
    const { [name]: preview, comment, ...others } = jobs
    expect([on, permissions, others]).toEqual([{ pull_request: null }, {}, {}])
    for (const { if: condition } of [preview!, comment!]) {
      expect(condition).toContain('github.event.pull_request.head.repo.full_name == github.repository')
      expect(condition).not.toContain('||')
    }
    expect([preview!.permissions, preview!.environment]).toEqual([{ contents: 'read' }, 'preview'])
    expect([comment!.permissions, comment!.environment]).toEqual([{ 'pull-requests': 'write' }, undefined])
    expect(comment!.steps.map(({ uses }) => uses)).toEqual([undefined])
    expect(JSON.stringify(comment)).not.toContain('secrets.')

    // Only the last step has the platform's token, and no secret of the server is sent.
    const { ci } = findTarget(name).files({ name: 'shop' })
    const [last, ...before] = preview!.steps.toReversed()
    expect(JSON.stringify(before)).not.toContain('secrets.')
    const given = [...(ci!.secrets ?? []), ...(ci!.variables ?? [])]
    expect(Object.keys(last!.env!)).toEqual(['API_TOKEN', ...given])
    expect(last!.run).not.toContain('--secret')
    for (const { uses = 'actions/' } of preview!.steps)
      expect(uses).toMatch(/^actions\/(?:$|\w+[\w-]*@v\d+$)/)
    // What a pull request can choose never becomes shell.
    for (const { run = '' } of [...preview!.steps, ...comment!.steps]) expect(run).not.toContain('${{')
  })
})

const DEPLOYED = `[ "$*" = "mayfly deploy --target vercel --preview --check --check-bearer-env API_TOKEN" ] || exit 9
echo "deployed https://shop-abc.vercel.app/mcp"; echo "1 ok"; echo "71 work, 0 wrong"`

describe('the steps', () => {
  const { jobs } = workflowOf('vercel', 'netlify-edge')
  const preview = jobs.vercel!.steps.at(-1)!
  const comment = jobs.comment!.steps[0]!

  it('report the URL and the result of the check', () => {
    const { status, outputs } = runStep(preview, { npx: DEPLOYED }, { API_TOKEN: 'x' })
    expect([status, outputs]).toEqual([0, 'url=https://shop-abc.vercel.app/mcp\ncheck=71 work, 0 wrong\n'])
  })

  it.each([
    ['a server that asks for a token, and none is given', ['auth'], '', '--no-check'],
    ['a server without', [], undefined, '--check'],
  ] as const)('%s → %j: the check cannot fail for want of one', (_what, templates, token, option) => {
    const { jobs: own } = parse(textOf(['vercel'], ...templates)!) as Workflow
    const npx = `[ "$*" = "mayfly deploy --target vercel --preview ${option}" ] || exit 9
echo "deployed https://shop-abc.vercel.app/mcp"`
    const env = token === undefined ? {} : { API_TOKEN: token }
    const { status, outputs } = runStep(own.vercel!.steps.at(-1)!, { npx }, env)
    expect([status, outputs]).toEqual([0, 'url=https://shop-abc.vercel.app/mcp\ncheck=\n'])
  })

  it.each([
    ['a check that fails', `${DEPLOYED}; exit 1`, 1, 'url=https://shop-abc.vercel.app/mcp\n'],
    ['a deployment that fails', 'exit 3', 3, 'url=\ncheck=\n'],
    [
      'a hostile URL',
      'echo "deployed https://a.example/\\$(id)"; echo "[x](https://evil.example) <b> \\`"',
      0,
      'url=\ncheck=xhttpsevilexample b \n',
    ],
  ])(
    '%s → its exit code, and nothing that a comment would show as more than text',
    (_what, npx, code, outputs) => {
      const ran = runStep(preview, { npx }, { API_TOKEN: 'x' })
      expect(ran.status).toBe(code)
      expect(ran.outputs).toContain(outputs)
    },
  )

  it('write one comment, which the next commit replaces', () => {
    const env = {
      NUMBER: '7',
      COMMIT: 'abc123',
      GITHUB_REPOSITORY: 'acme/shop',
      URL_VERCEL: 'https://shop-abc.vercel.app/mcp',
      CHECK_VERCEL: '71 work, 0 wrong',
      URL_NETLIFY_EDGE: '',
      CHECK_NETLIFY_EDGE: '',
    }
    expect(Object.keys(comment.env!).sort()).toEqual(
      ['GH_TOKEN', ...Object.keys(env).filter((one) => one !== 'GITHUB_REPOSITORY')].sort(),
    )
    const { status, read } = runStep(comment, { gh: 'echo "$*" > asked; cat > body' }, env)
    expect(status).toBe(0)
    expect(read('asked')).toBe('pr comment 7 --repo acme/shop --edit-last --create-if-none --body-file -\n')
    expect(read('body')).toBe(`Preview of abc123:

- vercel: https://shop-abc.vercel.app/mcp (71 work, 0 wrong)
- netlify-edge: no URL; see the log of this workflow
`)
  })

  it('say so if there was no check', () => {
    const { read } = runStep(
      comment,
      { gh: 'cat > body' },
      { URL_VERCEL: 'https://a.example/mcp', CHECK_VERCEL: '', URL_NETLIFY_EDGE: '', CHECK_NETLIFY_EDGE: '' },
    )
    expect(read('body')).toContain('- vercel: https://a.example/mcp (not checked)\n')
  })

  it('are valid shell', () => {
    for (const { run } of Object.values(jobs).flatMap(({ steps }) => steps))
      if (run !== undefined) execFileSync('bash', ['-n', '-c', run])
  })
})
