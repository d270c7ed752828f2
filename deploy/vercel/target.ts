/** Vercel, by the Build Output API v3: one function that takes every path, on Node (fluid compute) or on the Edge runtime. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { artefactDev } from '../artefact-dev.ts'
import { bundleServer, NODE_BANNER } from '../bundle-server.ts'
import { resolveTool } from '../project-tool.ts'
import type { Artefact, Deployment, DeploymentOptions, Finding, Launch, Project, Target } from '../target.ts'

const OUTPUT = '.vercel/output'
const FUNCTION = 'functions/mcp.func'

/** `.ts` from source, `.js` from dist/. */
const EXTENSION = extname(import.meta.url)
const NODE_HOST = fileURLToPath(new URL(`./node-host${EXTENSION}`, import.meta.url))
const EDGE_HOST = fileURLToPath(new URL(`./edge-host${EXTENSION}`, import.meta.url))

const NODE_MAIN = `import server from 'mayfly:entry'
import { vercel } from 'mayfly-mcp/vercel'

export default vercel(server)
`

const EDGE_MAIN = `import server from 'mayfly:entry'
import { vercel } from 'mayfly-mcp/vercel'

export default vercel(server).fetch
`

/** Every path is the server's: it knows its page, its health check and its endpoint itself. */
const CONFIG = { version: 3, routes: [{ src: '/(.*)', dest: '/mcp' }] }

/** https://vercel.com/docs/functions/limitations */
const NODE_LIMITS: Artefact['limits'] = [{ name: 'function size', of: 'raw', bytes: 250_000_000 }]
const EDGE_LIMITS: Artefact['limits'] = [
  { name: 'function size, Hobby plan', of: 'gzip', bytes: 1_000_000 },
  { name: 'function size, Pro plan', of: 'gzip', bytes: 2_000_000 },
]

const onNode: Pick<Target, 'build' | 'preview'> = {
  build: async (project, outDir) => {
    const main = writeOutput(outDir, 'index.mjs', {
      runtime: 'nodejs24.x',
      handler: 'index.mjs',
      launcherType: 'Nodejs',
      shouldAddHelpers: false,
      supportsResponseStreaming: true,
      supportsCancellation: true,
    })
    const outfile = join(outDir, main)
    const size = await bundleServer(project, {
      main: NODE_MAIN,
      outfile,
      platform: 'node',
      banner: NODE_BANNER,
    })
    return { main, size, limits: NODE_LIMITS }
  },
  preview: (outDir, { port }): Launch => ({
    command: NODE_HOST,
    args: [String(port), join(outDir, OUTPUT, FUNCTION)],
    cwd: outDir,
  }),
}

const onEdge: Pick<Target, 'build' | 'preview'> = {
  build: async (project, outDir) => {
    const main = writeOutput(outDir, 'index.js', { runtime: 'edge', entrypoint: 'index.js' })
    const outfile = join(outDir, main)
    const size = await bundleServer(project, {
      main: EDGE_MAIN,
      outfile,
      platform: 'neutral',
      conditions: ['edge-light', 'worker', 'browser'],
    })
    return { main, size, limits: EDGE_LIMITS }
  },
  preview: (outDir, { port, project }): Launch => ({
    command: EDGE_HOST,
    args: [
      String(port),
      join(outDir, OUTPUT, FUNCTION),
      resolveTool('edge-runtime', project.cwd),
      resolveTool('esbuild', project.cwd),
    ],
    cwd: outDir,
  }),
}

const common: Pick<Target, 'defaultPort' | 'deployment' | 'examine'> = {
  defaultPort: 3000,
  deployment,
  examine,
}

/** `tools` are what the preview runs on. */
const filesWith = (tools: { readonly [name: string]: string }): Target['files'] => {
  return () => ({
    files: { 'vercel.json': `${JSON.stringify({ framework: null }, null, 2)}\n` },
    scripts: {},
    dependencies: {},
    devDependencies: { '@hono/node-server': '^2.1.8', vercel: '^64.0.2', ...tools },
    ignored: ['.vercel/'],
  })
}

export const vercel: Target = {
  title: 'Vercel',
  limits: ['a call may take 300 s (MAYFLY_MAX_DURATION_MS)', 'a request may have 4.5 MB'],
  start: artefactDev(onNode),
  ...onNode,
  ...common,
  files: filesWith({}),
}

export const vercelEdge: Target = {
  title: 'Vercel Edge',
  limits: ['a response must begin within 25 s and may take 300 s', 'a request may have 4.5 MB'],
  start: artefactDev(onEdge),
  ...onEdge,
  ...common,
  files: filesWith({ 'edge-runtime': '^4.0.1' }),
}

/** Returns the path of the function's main file. */
function writeOutput(outDir: string, file: string, config: object): string {
  const folder = join(OUTPUT, FUNCTION)
  mkdirSync(join(outDir, folder), { recursive: true })
  writeFileSync(join(outDir, OUTPUT, 'config.json'), JSON.stringify(CONFIG))
  writeFileSync(join(outDir, folder, '.vc-config.json'), JSON.stringify(config))
  return join(folder, file)
}

function deployment(outDir: string, project: Project, { secrets, extra }: DeploymentOptions): Deployment {
  const linked = join(project.cwd, '.vercel/project.json')
  // The built folder is another than the one that vercel link has written to.
  if (existsSync(linked)) writeFileSync(join(outDir, '.vercel/project.json'), readFileSync(linked))
  return {
    tool: {
      name: 'vercel',
      npm: 'vercel',
      install: 'npm install --save-dev vercel',
      login: 'npx vercel login && npx vercel link',
      whoami: ['whoami', ...extra],
      token: 'VERCEL_TOKEN',
    },
    steps: [
      ...[...secrets].map(([name, value]) => ({
        title: `hand over ${name}`,
        args: ['env', 'add', name, 'production', '--sensitive', '--force', '--yes', ...extra],
        cwd: outDir,
        stdin: value,
      })),
      {
        title: 'upload the function',
        args: ['deploy', '--prebuilt', '--prod', '--yes', ...extra],
        cwd: outDir,
      },
    ],
  }
}

async function examine({ cwd }: Project): Promise<Finding[]> {
  if (existsSync(join(cwd, '.vercel/project.json'))) {
    return [{ level: 'ok', message: 'linked to a Vercel project' }]
  }
  return [
    {
      level: 'warning',
      message: 'not linked to a Vercel project: run npx vercel link, or vercel deploy makes a new one',
    },
  ]
}
