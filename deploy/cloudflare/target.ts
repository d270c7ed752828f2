/** Cloudflare Workers, through the project's own wrangler: it bundles, runs and deploys as it would without Mayfly. */
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { CliError } from '../cli-error.ts'
import { shown } from '../entry.ts'
import { startProcessGroup } from '../process-group.ts'
import { resolveTool } from '../project-tool.ts'
import type { Artefact, Deployment, DeploymentOptions, Finding, Launch, Project, Target } from '../target.ts'
import { COMPATIBILITY, findWranglerConfig, wranglerConfig } from './config.ts'
import { startDev } from './dev.ts'
import { checkWorkerEntry } from './entry-check.ts'
import { devArgs, OFFLINE, wranglerBin } from './wrangler.ts'

/** https://developers.cloudflare.com/workers/platform/limits/#worker-size */
const LIMITS: Artefact['limits'] = [
  { name: 'Worker size, Free plan', of: 'gzip', bytes: 3 * 1024 * 1024 },
  { name: 'Worker size, Paid plan', of: 'gzip', bytes: 10 * 1024 * 1024 },
]

const CONFIG_FILE = 'wrangler.json'

export const cloudflare: Target = {
  title: 'Cloudflare Workers',
  defaultPort: 8787,
  limits: [
    'a call may take as long as its client waits, with 10 ms of CPU time on the Free plan and 30 s on the Paid one',
  ],
  start: startDev,
  build,
  preview,
  deployment,
  examine,
  files,
}

async function build(project: Project, outDir: string): Promise<Artefact> {
  const bin = wranglerBin(project.cwd)
  await checkWorkerEntry(project.entry, project.cwd)
  const config = wranglerConfig(project.cwd)
  const args = ['deploy', project.entry, '--dry-run', '--minify', '--outdir', outDir, ...config.args]
  try {
    const { code, output } = await run([bin, ...args], project.cwd)
    if (code !== 0) {
      process.stderr.write(output)
      throw new CliError(`wrangler cannot build ${shown(project.entry)}: see its output above`)
    }
  } finally {
    config.dispose()
  }
  const main = `${basename(project.entry).replace(/\.\w+$/, '')}.js`
  const code = readFileSync(join(outDir, main))
  // A project without a configuration still needs one to be deployed.
  if (findWranglerConfig(project.cwd) === undefined) {
    writeFileSync(join(outDir, CONFIG_FILE), JSON.stringify({ name: project.name, main, ...COMPATIBILITY }))
  }
  return { main, size: { raw: code.byteLength, gzip: gzipSync(code).byteLength }, limits: LIMITS }
}

/** Runs a script of Node's with all that it starts, and resolves with what it printed. A signal to this process ends them. */
async function run(args: readonly string[], cwd: string): Promise<{ code: number; output: string }> {
  const env = { ...process.env, ...OFFLINE }
  const group = startProcessGroup(args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [group.child.stdout, group.child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  const closed = once(group.child, 'close')
  const code = await group.exited
  await group.stop()
  await closed
  return { code, output }
}

function preview(outDir: string, { port, project }: { port: number; project: Project }): Launch {
  return {
    command: wranglerBin(project.cwd),
    args: ['dev', ...builtWorker(outDir, project), ...devArgs(port)],
    cwd: project.cwd,
    env: OFFLINE,
  }
}

function deployment(outDir: string, project: Project, { secrets, extra }: DeploymentOptions): Deployment {
  return {
    tool: {
      name: 'wrangler',
      npm: 'wrangler',
      install: 'npm install --save-dev wrangler',
      login: 'npx wrangler login',
      whoami: ['whoami', '--json'],
      token: 'CLOUDFLARE_API_TOKEN',
    },
    steps: [
      {
        title: secrets.size === 0 ? 'upload the Worker' : 'upload the Worker and its secrets',
        args: [
          'deploy',
          ...builtWorker(outDir, project),
          // Variables that were set in the dashboard stay.
          '--keep-vars',
          ...(secrets.size === 0 ? [] : ['--secrets-file', '/dev/stdin']),
          ...extra,
        ],
        cwd: project.cwd,
        ...(secrets.size > 0 && { stdin: JSON.stringify(Object.fromEntries(secrets)) }),
      },
    ],
  }
}

/** What `build` has written, as wrangler is told to take it: as it is. */
function builtWorker(outDir: string, project: Project): string[] {
  const main = join(outDir, `${basename(project.entry).replace(/\.\w+$/, '')}.js`)
  return [main, '--no-bundle', '--config', findWranglerConfig(project.cwd) ?? join(outDir, CONFIG_FILE)]
}

async function examine({ cwd }: Project): Promise<Finding[]> {
  const findings: Finding[] = []
  try {
    wranglerBin(cwd)
    const { version } = JSON.parse(readFileSync(resolveTool('wrangler/package.json', cwd), 'utf8')) as {
      version: string
    }
    findings.push({ level: 'ok', message: `wrangler ${version}` })
  } catch (error) {
    if (!(error instanceof CliError)) throw error
    findings.push({ level: 'error', message: error.message })
  }
  const config = findWranglerConfig(cwd)
  if (config === undefined) {
    findings.push({
      level: 'warning',
      message:
        'no wrangler.toml: the Worker is named after the project, without bindings; mayfly init writes one',
    })
    return findings
  }
  const text = readFileSync(config, 'utf8')
  findings.push({ level: 'ok', message: `${basename(config)} found` })
  if (!text.includes('enable_request_signal')) {
    findings.push({
      level: 'warning',
      message: `a call is not told when its client goes away: add "enable_request_signal" to compatibility_flags in ${basename(config)}`,
    })
  }
  return findings
}

function files({ name }: { readonly name: string }): ReturnType<Target['files']> {
  return {
    files: {
      'wrangler.toml': `name = "${name}"
main = "src/server.ts"
compatibility_date = "${COMPATIBILITY.compatibility_date}"
# Aborts ctx.signal when a client goes away; no compatibility date turns it on.
compatibility_flags = ["enable_request_signal"]

[observability]
enabled = true
`,
    },
    scripts: {},
    dependencies: {},
    devDependencies: { wrangler: '^4.155.0' },
    ignored: ['.wrangler/', '.dev.vars', '.dev.vars.*', '!.dev.vars.example'],
  }
}
