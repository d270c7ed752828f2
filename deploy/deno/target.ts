/** Deno and Deno Deploy: one file that serves. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { artefactDev } from '../artefact-dev.ts'
import { bundleServer, NODE_BANNER } from '../bundle-server.ts'
import { CliError } from '../cli-error.ts'
import { toEnvFile } from '../secrets.ts'
import type { Deployment, DeploymentOptions, Finding, Project, Target } from '../target.ts'
import { DENO_OFFLINE, DENO_RUN, denoProgram } from './program.ts'

const MAIN = `import server from 'mayfly:entry'
import { deno } from 'mayfly-mcp/deno'

const running = Deno.serve(deno(server))
// Deno Deploy ends an instance 5 seconds after this signal. A second one ends it at once.
const drain = () => {
  Deno.removeSignalListener('SIGINT', drain)
  void running.shutdown()
}
Deno.addSignalListener('SIGINT', drain)
`

const artefact: Pick<Target, 'build' | 'preview'> = {
  build: async (project, outDir) => {
    const main = 'server.js'
    const size = await bundleServer(project, {
      main: MAIN,
      outfile: join(outDir, main),
      platform: 'node',
      conditions: ['deno'],
      banner: NODE_BANNER,
    })
    const tasks = { start: `deno run --allow-net --allow-env ${main}` }
    writeFileSync(join(outDir, 'deno.json'), `${JSON.stringify({ tasks }, null, 2)}\n`)
    // What is built is often ignored further up, and deno deploy leaves out what is.
    writeFileSync(join(outDir, '.gitignore'), '!*\n')
    return { main, size, limits: [] }
  },
  preview: (outDir, { port, project }) => ({
    command: denoProgram(project.cwd),
    args: [...DENO_RUN, join(outDir, 'server.js')],
    cwd: outDir,
    env: { ...DENO_OFFLINE, DENO_SERVE_ADDRESS: `tcp:127.0.0.1:${port}` },
  }),
}

export const deno: Target = {
  title: 'Deno Deploy',
  defaultPort: 8000,
  limits: ['a call may take as long as its client waits'],
  start: artefactDev(artefact),
  ...artefact,
  deployment,
  examine,
  files: () => ({
    files: {},
    scripts: {},
    dependencies: {},
    devDependencies: { deno: '^2.9.5' },
    ignored: [],
  }),
}

/** https://docs.deno.com/runtime/reference/cli/deploy/ The app exists: `deno deploy create` has made it once. */
function deployment(outDir: string, project: Project, { secrets, extra }: DeploymentOptions): Deployment {
  const common = [...appOf(project), '--non-interactive']
  const setSecrets = {
    title: `hand over ${[...secrets.keys()].join(', ')}`,
    args: ['deploy', 'env', 'load', '/dev/stdin', '--replace', ...common],
    cwd: outDir,
    stdin: toEnvFile(secrets),
  }
  return {
    tool: {
      name: 'deno',
      npm: 'deno',
      install: 'npm install --save-dev deno',
      login: 'npx deno deploy switch',
      whoami: ['deploy', 'whoami', '--non-interactive'],
      token: 'DENO_DEPLOY_TOKEN',
    },
    steps: [
      ...(secrets.size > 0 ? [setSecrets] : []),
      {
        title: 'upload the server',
        args: ['deploy', '--prod', ...common, ...extra],
        cwd: outDir,
      },
    ],
  }
}

/**
 * Which app: as the environment says, else as `deno deploy` has written it into the project's configuration, else the
 * project's name, of the one organisation there is.
 */
function appOf({ cwd, name }: Project): string[] {
  const { DENO_DEPLOY_ORG, DENO_DEPLOY_APP } = process.env
  const configured = deployConfig(cwd)
  const org = DENO_DEPLOY_ORG ?? configured.org
  const app = DENO_DEPLOY_APP ?? configured.app ?? name
  return [...(org === undefined ? [] : ['--org', org]), '--app', app]
}

function deployConfig(cwd: string): { org?: string; app?: string } {
  const file = ['deno.json', 'deno.jsonc'].map((one) => join(cwd, one)).find((path) => existsSync(path))
  if (file === undefined) return {}
  // Comments and trailing commas go; strings stay.
  const json = readFileSync(file, 'utf8').replaceAll(
    /("(?:\\.|[^"\\])*")|\/\/.*|\/\*[\s\S]*?\*\/|,(?=\s*[}\]])/g,
    (_match, text: string | undefined) => text ?? '',
  )
  try {
    return (JSON.parse(json) as { deploy?: { org?: string; app?: string } }).deploy ?? {}
  } catch (error) {
    throw new CliError(`cannot read ${file}: ${(error as Error).message}`)
  }
}

async function examine({ cwd }: Project): Promise<Finding[]> {
  try {
    return [{ level: 'ok', message: `deno found: ${denoProgram(cwd)}` }]
  } catch (error) {
    return [{ level: 'error', message: (error as Error).message }]
  }
}
