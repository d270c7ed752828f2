/** The workflows, the dev container, Renovate's and changesets' settings are valid, pinned, and allowed no more than they need. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import * as z from 'zod'
import manifest from '../../package.json' with { type: 'json' }
import { workflowFaults } from './_workflow-faults.ts'

const { devDependencies, scripts } = manifest
const ROOT = join(import.meta.dirname, '../..')
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

const Permissions = z.record(z.string(), z.enum(['read', 'write']))
const Step = z.looseObject({ uses: z.string().optional(), run: z.string().optional() })
const Job = z.looseObject({
  'timeout-minutes': z.number(),
  permissions: Permissions,
  steps: z.array(Step),
})
const Workflow = z.looseObject({
  permissions: Permissions,
  concurrency: z.object({ group: z.string(), 'cancel-in-progress': z.boolean() }),
  env: z.record(z.string(), z.string()).default({}),
  jobs: z.record(z.string(), Job),
})

function readWorkflow(file: string): z.infer<typeof Workflow> {
  return Workflow.parse(parse(read(`.github/workflows/${file}`), { strict: true, uniqueKeys: true }))
}

function commandsOf(job: z.infer<typeof Job> | undefined): string[] {
  return job?.steps.flatMap(({ run }) => run ?? []) ?? []
}

/** What a job may change, by its name. */
const MAY_WRITE: { readonly [job: string]: readonly string[] } = {
  version: ['contents', 'pull-requests'],
  publish: ['id-token'],
  tag: ['contents'],
}

describe.each(['test.yml', 'release.yml'])('%s', (file) => {
  const { permissions, jobs } = readWorkflow(file)

  it('is valid', async () => {
    expect(await workflowFaults(read(`.github/workflows/${file}`))).toEqual([])
  })

  it('lets a job write only what it must', () => {
    expect(permissions).toEqual({ contents: 'read' })
    for (const [job, { permissions }] of Object.entries(jobs)) {
      const writes = Object.keys(permissions).filter((scope) => permissions[scope] === 'write')
      expect(writes, job).toEqual(MAY_WRITE[job] ?? [])
    }
  })

  it('ends what hangs', () => {
    for (const [job, { 'timeout-minutes': minutes }] of Object.entries(jobs)) {
      expect(minutes, job).toBeLessThanOrEqual(90)
    }
  })

  it('pins every action by commit, and says its version', () => {
    const uses = read(`.github/workflows/${file}`).match(/^.*\buses:.*$/gm) ?? []
    expect(uses).toHaveLength(
      Object.values(jobs).flatMap(({ steps }) => steps.filter((step) => step.uses)).length,
    )
    for (const line of uses) expect(line).toMatch(/ uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
  })

  it('leaves no token on the disk for the steps that follow, and needs no secret', () => {
    const checkouts = Object.values(jobs)
      .flatMap(({ steps }) => steps)
      .filter(({ uses }) => uses?.startsWith('actions/checkout@'))
    expect(checkouts).toHaveLength(Object.keys(jobs).length)
    for (const { with: inputs } of checkouts) expect(inputs).toEqual({ 'persist-credentials': false })
    expect(read(`.github/workflows/${file}`)).not.toContain('secrets.')
  })
})

it('a misspelt key, a job that is not there and a broken expression are found', async () => {
  const workflow = read('.github/workflows/release.yml')
  const broken = [
    ['timeout-minutes', 'timeout-minuts'],
    ['needs: plan', 'needs: plans'],
    ["mode == 'version'", "mode == ('version'"],
  ] as const
  for (const [from, to] of broken)
    expect(await workflowFaults(workflow.replace(from, to)), to).not.toEqual([])
})

describe('test.yml', () => {
  const { jobs, concurrency } = readWorkflow('test.yml')

  it('runs npm ci and npm test on each system, under each Node', () => {
    expect(jobs.test).toMatchObject({
      'runs-on': expect.stringContaining('matrix.os'),
      strategy: {
        'fail-fast': false,
        matrix: {
          os: [
            expect.stringMatching(/^ubuntu-/),
            expect.stringMatching(/^macos-/),
            expect.stringMatching(/^windows-/),
          ],
          node: [20, 22, 24],
        },
      },
    })
    expect(commandsOf(jobs.test).slice(0, 2)).toEqual(['npm ci', 'npm test'])
  })

  it('runs .ci/run on Linux, which has time to end what hangs', () => {
    expect(commandsOf(jobs['all-suites'])).toEqual(['bash .ci/run'])
    const seconds = Number(/timeout --kill-after=\d+ (\d+) /.exec(read('.ci/run'))?.[1])
    expect(seconds).toBeGreaterThan(0)
    expect(seconds).toBeLessThan(60 * jobs['all-suites']!['timeout-minutes'])
  })

  it('ends the older run of a branch', () => {
    expect(concurrency.group).toContain('github.ref')
    expect(concurrency['cancel-in-progress']).toBe(true)
  })
})

describe('release.yml', () => {
  const { jobs, env } = readWorkflow('release.yml')

  it('publishes with provenance, tested, and only where somebody has turned it on', () => {
    expect(commandsOf(jobs.publish)).toContain('npm test')
    expect(commandsOf(jobs.publish).at(-1)).toBe('npm publish --provenance --access public')
    expect(jobs.publish?.if).toContain("vars.NPM_PUBLISH == 'true'")
  })

  it('uses an exact version of changesets, which CONTRIBUTING.md names', () => {
    expect(env.CHANGESETS_VERSION).toMatch(/^\d+\.\d+\.\d+$/)
    expect(read('CONTRIBUTING.md')).toContain(`npx @changesets/cli@${env.CHANGESETS_VERSION}`)
    expect(JSON.parse(read('.changeset/config.json'))).toMatchObject({ access: 'public', baseBranch: 'main' })
  })

  it('finds the heading in CHANGELOG.md under which changesets writes', () => {
    expect(read('CHANGELOG.md')).toMatch(/^# .+\n\n## /)
  })
})

describe('renovate.json', () => {
  const Rule = z.looseObject({
    description: z.string(),
    matchDepNames: z.array(z.string()).default([]),
    allowedVersions: z.string().optional(),
    dependencyDashboardApproval: z.boolean().default(false),
  })
  const settings = z
    .looseObject({ extends: z.array(z.string()), rangeStrategy: z.string(), packageRules: z.array(Rule) })
    .parse(JSON.parse(read('.github/renovate.json')))
  const versions: { readonly [name: string]: string } = devDependencies

  /** `5.9.x`, or `!/^1\.2\.3$/`: every version but these. */
  function isAllowed(rule: string, version: string): boolean {
    if (rule.startsWith('!/')) return !new RegExp(rule.slice(2, -1)).test(version)
    return version.startsWith(rule.replace(/x$/, ''))
  }

  it('is weekly, and pins', () => {
    expect(settings.extends).toContain('schedule:weekly')
    expect(settings.rangeStrategy).toBe('pin')
    for (const version of Object.values(versions)) expect(version).toMatch(/^(?:npm:[\w@/-]+@)?\d+\.\d+\.\d+/)
  })

  it('has rules for packages that are there, in versions that it allows', () => {
    for (const { description, matchDepNames, allowedVersions } of settings.packageRules) {
      for (const name of matchDepNames) {
        expect(versions, description).toHaveProperty([name])
        if (allowedVersions !== undefined)
          expect(isAllowed(allowedVersions, versions[name]!), name).toBe(true)
      }
    }
  })

  it('leaves the runtimes alone until somebody asks', () => {
    const onRequest = settings.packageRules.filter((rule) => rule.dependencyDashboardApproval)
    expect(onRequest.flatMap((rule) => rule.matchDepNames)).toEqual(
      expect.arrayContaining(['wrangler', 'deno', 'bun']),
    )
  })
})

describe('devcontainer.json', () => {
  const container = z
    .looseObject({ image: z.string(), postCreateCommand: z.string(), forwardPorts: z.array(z.number()) })
    .parse(JSON.parse(read('.devcontainer/devcontainer.json')))

  it('has the Node of npm scripts, on the Debian of the packages', () => {
    expect(container.image).toMatch(/:24-bookworm$/)
    expect(devDependencies.node).toMatch(/^24\./)
    expect(container.postCreateCommand).toBe('npm ci')
  })

  it('shows the page of npm start', () => {
    expect(scripts.start).toContain(`--port ${container.forwardPorts[0]}`)
  })
})
