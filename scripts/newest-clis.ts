/**
 * `npm run test:newest-clis`: the tests of test/platform-clis with the newest version of each tool that installs, where `npm run
 * test:others` has pinned ones, and AWS's SAM translator from Python's registry. Needs the registries; the tools themselves connect only to
 * loopback. Ends with vitest's exit code.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')
const CACHE = join(ROOT, 'node_modules/.cache/newest-clis')
const TOOLS = ['netlify-cli', 'vercel', 'wrangler', 'supabase'] as const

/** Tools whose newest version does not install: the newest that does, and why (as of 2026-11-22). */
const FALLBACKS: { readonly [tool: string]: string } = {
  // 61 to 64 need a version of `sandbox` that the registry does not have.
  vercel: '60.1.3',
}

const shared = join(CACHE, 'node_modules')
rmSync(shared, { recursive: true, force: true })
mkdirSync(shared, { recursive: true })
for (const tool of TOOLS) {
  const folder = install(tool, 'latest') ?? install(tool, FALLBACKS[tool])
  if (folder === undefined) {
    console.log(`${tool}: does not install; the pinned one is tested`)
    continue
  }
  const installed = join(folder, 'node_modules', tool)
  symlinkSync(installed, join(shared, tool))
  const { version } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as { version: string }
  console.log(`${tool} ${version}`)
}

const python = installPython('cfn-lint')
if (python === undefined)
  console.log('cfn-lint: does not install; the installed one is tested, if there is one')

// Some of them need a newer Node than the machine's.
const path = `${join(ROOT, 'node_modules/.bin')}:${dirname(process.execPath)}:${process.env.PATH}`
const env = {
  ...process.env,
  PATH: path,
  MAYFLY_TEST_CLIS: CACHE,
  ...(python !== undefined && { MAYFLY_TEST_PYTHON: python }),
}
execFileSync('npm', ['run', '--silent', 'build'], { cwd: ROOT, env, stdio: 'inherit' })
const { status } = spawnSync('npx', ['vitest', 'run', 'test/platform-clis', ...process.argv.slice(2)], {
  cwd: ROOT,
  env,
  stdio: 'inherit',
})
process.exit(status ?? 1)

/** Returns the folder; undefined if the tool does not install. */
function install(tool: string, version: string | undefined): string | undefined {
  if (version === undefined) return undefined
  const folder = join(CACHE, `${tool}-${version}`)
  // The newest may have changed since.
  if (version === 'latest') rmSync(folder, { recursive: true, force: true })
  else if (existsSync(join(folder, 'node_modules', tool))) return folder
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n')
  const args = ['install', '--no-audit', '--no-fund', '--loglevel', 'error', `${tool}@${version}`]
  const { status, stderr } = spawnSync('npm', args, { cwd: folder, encoding: 'utf8' })
  if (status === 0) return folder
  console.log(
    `${tool}@${version} does not install: ${/npm error (?!code)(.*)/.exec(stderr)?.[1] ?? stderr.slice(0, 200)}`,
  )
  return undefined
}

/** With the SAM translator, which it needs. Returns the folder of its modules; undefined if it does not install. */
function installPython(name: string): string | undefined {
  const folder = join(CACHE, 'python')
  rmSync(folder, { recursive: true, force: true })
  const args = [
    '-m',
    'pip',
    'install',
    '--quiet',
    '--retries',
    '1',
    '--timeout',
    '20',
    '--target',
    folder,
    name,
  ]
  const { status } = spawnSync('python3', args, { encoding: 'utf8' })
  return status === 0 ? folder : undefined
}
