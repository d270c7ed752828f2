/** What the commands make of the platforms' limits: they warn, and say what to do before a deployment fails. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { activeMsOf, startupWarnings } from '../../deploy/targets/cloudflare/startup.ts'
import { lambda } from '../../deploy/targets/lambda/target.ts'
import { template } from '../../deploy/targets/lambda/template.ts'
import { vercel } from '../../deploy/targets/vercel/target.ts'
import { MayflyProcess, Project } from './_dev-process.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

function arrange(): Project {
  const project = new Project()
  project.linkPackage()
  project.write(
    'server.ts',
    `import { MCPServer } from 'mayfly-mcp'
export default new MCPServer({ id: 'a', name: 'a', version: '1' })`,
  )
  return project
}

interface Finding {
  readonly level: string
  readonly message: string
}

async function findings(project: Project, target: string): Promise<Finding[]> {
  const { stdout } = await new MayflyProcess(['doctor', '--target', target, '--json'], project.folder).exited
  return (JSON.parse(stdout) as { findings: Finding[] }).findings
}

describe('Vercel', { timeout: 180_000 }, () => {
  test.for<[string, string, { maxDuration?: number }, string]>([
    ['of the project', 'MAYFLY_MAX_DURATION_MS=800000\n', { maxDuration: 800 }, 'maxDurationMs: 8e5'],
    ['that is no number of milliseconds', 'MAYFLY_MAX_DURATION_MS=soon\n', {}, 'vercel('],
    ['that nobody sets', '', {}, 'vercel('],
  ])('a limit %s → the function’s maxDuration and our own', async ([, env, config, code]) => {
    await using project = arrange()
    project.write('.env', env)

    const { code: exitCode, stderr } = await new MayflyProcess(
      ['build', '--target', 'vercel'],
      project.folder,
    ).exited

    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 })
    const folder = join(project.folder, 'dist/vercel/.vercel/output/functions/mcp.func')
    const written = JSON.parse(readFileSync(join(folder, '.vc-config.json'), 'utf8'))
    expect({ ...(written.maxDuration !== undefined && { maxDuration: written.maxDuration }) }).toEqual(config)
    const built = readFileSync(join(folder, 'index.mjs'), 'utf8')
    expect(/maxDurationMs: ?8(?:e5|00000)/.test(built)).toBe(code !== 'vercel(')
  })

  test.for([
    ['300000', []],
    ['300001', ['a maxDuration of 301 s (MAYFLY_MAX_DURATION_MS) is for Pro and Enterprise plans']],
    ['1800000', [expect.stringContaining('1800 s (MAYFLY_MAX_DURATION_MS) is in beta')]],
    ['1801000', [expect.stringContaining('is more than the 1800 s that Vercel allows')]],
  ] as const)('a limit of %s ms → what it needs is said before anything is uploaded', async ([ms, notes]) => {
    await using project = arrange()
    project.write('.env', `MAYFLY_MAX_DURATION_MS=${ms}`)
    const at = { cwd: project.folder, entry: join(project.folder, 'server.ts'), name: 'shop' }

    expect(vercel.deployment('/out', at, { secrets: new Map(), extra: [] }).notes).toEqual(notes)
  })

  test('doctor warns of Edge Functions, and names the target to take', async () => {
    await using project = arrange()

    const deprecated = expect.stringMatching(/deprecated Edge Functions: use --target vercel/)

    expect(await findings(project, 'vercel-edge')).toContainEqual({ level: 'warning', message: deprecated })
    expect(await findings(project, 'vercel')).not.toContainEqual(
      expect.objectContaining({ message: deprecated }),
    )
  })
})

describe('Cloudflare', { timeout: 180_000 }, () => {
  test.for<[string, string, string, boolean]>([
    [
      'wrangler.toml',
      'compatibility_date = "2026-08-04"\ncompatibility_flags = ["nodejs_compat"]',
      'an error',
      true,
    ],
    [
      'wrangler.toml',
      'compatibility_date = "2026-08-03"\ncompatibility_flags = ["nodejs_compat"]',
      'needed',
      false,
    ],
    ['wrangler.toml', 'compatibility_date = "2026-10-01"\ncompatibility_flags = []', 'absent', false],
    [
      'wrangler.jsonc',
      '{ "compatibility_date": "2026-10-01", "compatibility_flags": ["nodejs_compat"] }',
      'an error',
      true,
    ],
    [
      'wrangler.toml',
      'compatibility_date = "2026-10-01"\ncompatibility_flags = ["no_nodejs_compat"]',
      'off',
      false,
    ],
  ])('%s: %s → nodejs_compat is %s', async ([file, config, _what, isWarned]) => {
    await using project = arrange()
    project.write(file, config)

    const warned = (await findings(project, 'cloudflare')).filter(({ message }) =>
      message.startsWith('nodejs_compat is on from compatibility date 2026-08-04'),
    )

    expect(warned.map(({ level }) => level)).toEqual(isWarned ? ['warning'] : [])
  })
})

/** On a busy machine; the machine of a user gets less. */
const MEASURING_MS = 240_000

describe('the start-up of a Worker', { timeout: 300_000 }, () => {
  test.for<[string, string, readonly unknown[]]>([
    ['that does little', '', []],
    [
      'that computes for long',
      'let n = 0; for (let i = 0; i < 1.5e9; i++) n += i % 7; globalThis.n = n',
      [expect.stringMatching(/^the Worker took \d+ ms to start here, and Cloudflare allows 1 s/)],
    ],
  ])('of one %s', async ([, work, lines]) => {
    await using project = arrange()
    project.write('worker.js', `${work}\nexport default { fetch: () => new Response('x') }`)

    expect(await startupWarnings(join(project.folder, 'worker.js'), ROOT, MEASURING_MS)).toEqual(lines)
  })

  test('what cannot be measured is not warned of', async () => {
    await using project = arrange()

    expect(await startupWarnings(join(project.folder, 'missing.js'), ROOT)).toEqual([])
    expect(await startupWarnings(join(project.folder, 'missing.js'), project.folder)).toEqual([])
  })

  test('waiting does not count', () => {
    const nodes = [
      { id: 1, callFrame: { functionName: '(idle)' } },
      { id: 2, callFrame: { functionName: 'load' } },
    ]

    expect(activeMsOf({ nodes, samples: [1, 2, 1, 2], timeDeltas: [9000, 2000, 9000, 500] })).toBe(2.5)
  })
})

describe('Lambda', () => {
  const project = { cwd: ROOT, entry: join(ROOT, 'server.ts'), name: 'shop' }
  const notes = (...extra: string[]) =>
    lambda.deployment('/out', project, { secrets: new Map(), extra }).notes ?? []

  test('MaxConcurrency → what the account must have is said before anything is uploaded', () => {
    const [note, ...others] = notes('--parameter-overrides', 'MaxConcurrency=5', 'TimeoutSeconds=30')

    expect(note).toMatch(/MaxConcurrency=5 .* UnreservedConcurrentExecutions of 105 or more/)
    expect(others).toEqual([])
    expect(template()).toContain(
      'any other value requires that 100 executions of the account stay unreserved.',
    )
  })

  test('without it, or with 0, nothing is said', () => {
    expect([...notes(), ...notes('--parameter-overrides', 'MaxConcurrency=0')]).toEqual([])
  })

  test('who installs its tools is sent to version 2 of the AWS CLI', () => {
    const { install } = lambda.deployment('/out', project, { secrets: new Map(), extra: [] }).tool

    expect(install).toContain('version 2 of the AWS CLI')
    expect(install).not.toContain('awscli')
  })
})
