/** Deno and Deno Deploy: one file that serves. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { artefactDev } from '../artefact-dev.ts'
import { bundleServer, NODE_BANNER } from '../bundle-server.ts'
import { toEnvFile } from '../secrets.ts'
import type { Deployment, DeploymentOptions, Finding, Project, Target } from '../target.ts'
import { DENO_OFFLINE, DENO_RUN, denoProgram } from './program.ts'

const MAIN = `import server from 'mayfly:entry'
import { deno } from 'mayfly-mcp/deno'

Deno.serve(deno(server))
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
  const names = [...secrets.keys()]
  const setSecrets = {
    title: `hand over ${names.join(', ')}`,
    args: ['deploy', 'env', 'load', '/dev/stdin', '--app', project.name, '--non-interactive'],
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
        args: ['deploy', '--app', project.name, '--prod', '--non-interactive', ...extra],
        cwd: outDir,
      },
    ],
  }
}

async function examine({ cwd }: Project): Promise<Finding[]> {
  try {
    return [{ level: 'ok', message: `deno found: ${denoProgram(cwd)}` }]
  } catch (error) {
    return [{ level: 'error', message: (error as Error).message }]
  }
}
