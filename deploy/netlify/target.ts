/** Netlify: a site without pages, whose one function or edge function takes every path. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { artefactDev } from '../artefact-dev.ts'
import { bundleServer, NODE_BANNER } from '../bundle-server.ts'
import { DENO_OFFLINE, DENO_RUN, denoProgram } from '../deno/program.ts'
import { toEnvFile } from '../secrets.ts'
import type { Artefact, Deployment, DeploymentOptions, Finding, Launch, Project, Target } from '../target.ts'
import { EDGE_HOST } from './edge-host.ts'

/** `.ts` from source, `.js` from dist/. */
const FUNCTION_HOST = fileURLToPath(new URL(`./function-host${extname(import.meta.url)}`, import.meta.url))

const main = (adapter: string): string => `import server from 'mayfly:entry'
import { ${adapter} } from 'mayfly-mcp/netlify'

export default ${adapter}(server)
export const config = { path: '/*' }
`

/** https://docs.netlify.com/build/functions/overview and https://docs.netlify.com/build/edge-functions/limits */
const FUNCTION_LIMITS: Artefact['limits'] = [{ name: 'function size, zipped', of: 'gzip', bytes: 50_000_000 }]
const EDGE_LIMITS: Artefact['limits'] = [{ name: 'edge function size', of: 'gzip', bytes: 20_000_000 }]

const FUNCTION_FOLDER = 'netlify/functions'
const EDGE_FOLDER = 'netlify/edge-functions'

const asFunction: Pick<Target, 'build' | 'preview'> = {
  build: async (project, outDir) => {
    const file = join(FUNCTION_FOLDER, 'mcp.mjs')
    writeSite(outDir, FUNCTION_FOLDER, `[functions]\ndirectory = "${FUNCTION_FOLDER}"\n`)
    const size = await bundleServer(project, {
      main: main('netlify'),
      outfile: join(outDir, file),
      platform: 'node',
      banner: NODE_BANNER,
    })
    return { main: file, size, limits: FUNCTION_LIMITS }
  },
  preview: (outDir, { port }): Launch => ({
    command: FUNCTION_HOST,
    args: [String(port), join(outDir, FUNCTION_FOLDER, 'mcp.mjs')],
    cwd: outDir,
  }),
}

const asEdgeFunction: Pick<Target, 'build' | 'preview'> = {
  build: async (project, outDir) => {
    const file = join(EDGE_FOLDER, 'mcp.js')
    writeSite(outDir, EDGE_FOLDER, '')
    const size = await bundleServer(project, {
      main: main('netlifyEdge'),
      outfile: join(outDir, file),
      platform: 'node',
      conditions: ['deno', 'netlify'],
      banner: NODE_BANNER,
    })
    return { main: file, size, limits: EDGE_LIMITS }
  },
  preview: (outDir, { port, project }): Launch => {
    // Netlify's own bootstrap is not on npm: Deno, which it runs on, and its calling convention stand in.
    const host = join(outDir, '.netlify/preview.js')
    mkdirSync(join(outDir, '.netlify'), { recursive: true })
    writeFileSync(host, EDGE_HOST)
    return {
      command: denoProgram(project.cwd),
      args: [...DENO_RUN, host],
      cwd: outDir,
      env: { ...DENO_OFFLINE, DENO_SERVE_ADDRESS: `tcp:127.0.0.1:${port}` },
    }
  },
}

const common: Pick<Target, 'defaultPort' | 'deployment' | 'examine'> = {
  defaultPort: 8888,
  deployment,
  examine,
}

/** `tools` are what the preview runs on. */
const filesWith = (tools: { readonly [name: string]: string }): Target['files'] => {
  return () => ({
    files: {},
    scripts: {},
    dependencies: {},
    devDependencies: { 'netlify-cli': '^27.10.2', ...tools },
    ignored: ['.netlify/'],
  })
}

export const netlify: Target = {
  title: 'Netlify Functions',
  limits: ['a call may take 60 s', 'a whole response may have 6 MB'],
  start: artefactDev(asFunction),
  ...asFunction,
  ...common,
  files: filesWith({ '@hono/node-server': '^2.1.8' }),
}

export const netlifyEdge: Target = {
  title: 'Netlify Edge Functions',
  limits: ['a response must begin within 40 s, with 50 ms of CPU time'],
  start: artefactDev(asEdgeFunction),
  ...asEdgeFunction,
  ...common,
  files: filesWith({ deno: '^2.9.5' }),
}

function writeSite(outDir: string, folder: string, more: string): void {
  mkdirSync(join(outDir, folder), { recursive: true })
  mkdirSync(join(outDir, 'public'), { recursive: true })
  // A site must publish something; every path is the function's.
  writeFileSync(join(outDir, 'public/robots.txt'), 'User-agent: *\nDisallow: /\n')
  writeFileSync(join(outDir, 'netlify.toml'), `[build]\npublish = "public"\n\n${more}`.trimEnd().concat('\n'))
}

/** https://cli.netlify.com/commands/deploy */
function deployment(outDir: string, _project: Project, { secrets, extra }: DeploymentOptions): Deployment {
  return {
    tool: {
      name: 'netlify',
      npm: 'netlify-cli',
      install: 'npm install --save-dev netlify-cli',
      login: 'npx netlify login && npx netlify link',
      whoami: ['api', 'getCurrentUser'],
      token: 'NETLIFY_AUTH_TOKEN',
    },
    steps: [
      ...(secrets.size > 0
        ? [
            {
              title: `hand over ${[...secrets.keys()].join(', ')}`,
              args: ['env:import', '/dev/stdin'],
              cwd: outDir,
              stdin: toEnvFile(secrets),
            },
          ]
        : []),
      {
        title: 'upload the site with its function',
        args: ['deploy', '--prod', ...extra],
        cwd: outDir,
      },
    ],
  }
}

async function examine({ cwd }: Project): Promise<Finding[]> {
  const isLinked = process.env.NETLIFY_SITE_ID !== undefined || existsSync(join(cwd, '.netlify/state.json'))
  if (isLinked) return [{ level: 'ok', message: 'linked to a Netlify site' }]
  return [
    {
      level: 'warning',
      message: 'not linked to a Netlify site: run npx netlify link, or set NETLIFY_SITE_ID',
    },
  ]
}
