/** Vercel, by the Build Output API v3: one function that serves every path, on Node (fluid compute) or on the Edge runtime. */

import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bundleServer, NODE_BANNER } from '../../build/bundle-server.ts'
import { abilitiesOf } from '../../contract/abilities.ts'
import { FACTS, shownValue, sizeLimit } from '../../contract/facts.ts'
import type { Artefact, Finding, Launch, Project, Target } from '../../contract/target.ts'
import { cronsOf } from '../../project/cron.ts'
import { ownModule } from '../../project/own-module.ts'
import { resolveTool } from '../../project/project-tool.ts'
import { artefactDev } from '../artefact-dev.ts'
import { toolFinding } from '../deploy-tool.ts'
import { deployment, logs, maxDurationOf, TOOL } from './deployment.ts'
import { vercelPlace } from './place.ts'
import { vercelRemoval, vercelRollback } from './release.ts'
import { vercelSecrets } from './secrets.ts'

const OUTPUT = '.vercel/output'
const FUNCTION = 'functions/mcp.func'

const NODE_HOST = ownModule('deploy/targets/vercel/node-host')
const EDGE_HOST = ownModule('deploy/targets/vercel/edge-host')

/** Sets the function's time limit if it differs from the platform's default. */
const nodeMain = (seconds: number | undefined): string => `import server from 'mayfly:entry'
import { vercel } from 'mayfly-mcp/vercel'

export default vercel(server${seconds === undefined ? '' : `, { maxDurationMs: ${seconds * 1000} }`})
`

const EDGE_MAIN = `import server from 'mayfly:entry'
import { vercel } from 'mayfly-mcp/vercel'

export default vercel(server).fetch
`

/** Every path goes to the server, which has its own page, health check and endpoint. */
const CONFIG = { version: 3, routes: [{ src: '/(.*)', dest: '/mcp' }] }

const { vercel: facts } = FACTS
const NODE_LIMITS: Artefact['limits'] = [sizeLimit(facts.functionBytes, 'raw')]
const EDGE_LIMITS: Artefact['limits'] = [
  sizeLimit(facts.edgeHobbyBytes, 'gzip'),
  sizeLimit(facts.edgeProBytes, 'gzip'),
]

const onNode: Pick<Target, 'build' | 'preview'> = {
  build: async (project, outDir) => {
    const maxDuration = maxDurationOf(project)
    const main = writeOutput(project, outDir, 'index.mjs', {
      ...(maxDuration !== undefined && { maxDuration }),
      runtime: 'nodejs24.x',
      handler: 'index.mjs',
      launcherType: 'Nodejs',
      shouldAddHelpers: false,
      supportsResponseStreaming: true,
      supportsCancellation: true,
    })
    const outfile = join(outDir, main)
    const { size } = await bundleServer(project, {
      main: nodeMain(maxDuration),
      outfile,
      platform: 'node',
      banner: NODE_BANNER,
      isSplit: true,
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
    const main = writeOutput(project, outDir, 'index.js', { runtime: 'edge', entrypoint: 'index.js' })
    const outfile = join(outDir, main)
    const { size } = await bundleServer(project, {
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

const common: Pick<
  Target,
  | 'defaultPort'
  | 'hasPreviews'
  | 'place'
  | 'secretStore'
  | 'rollback'
  | 'removal'
  | 'deployment'
  | 'logs'
  | 'examine'
> = {
  defaultPort: 3000,
  hasPreviews: true,
  place: vercelPlace,
  secretStore: (project, options) => ({ tool: TOOL, ...vercelSecrets(project, options) }),
  rollback: (project, options) => ({ tool: TOOL, ...vercelRollback(project, options) }),
  removal: (project, options) => ({ tool: TOOL, ...vercelRemoval(project, options) }),
  deployment,
  logs,
  examine,
}

/**
 * The newest version whose packages are all on the registry, as of 2026-11-22. 59 to 64 lack some packages for other systems, so `npm ci`
 * refuses the lockfile. 61 to 64 also lack the required version of `sandbox`, so `npm install` fails.
 */
const CLI_VERSION = '58.10.0'

/** `tools`: the packages that the preview needs. */
const filesWith = (tools: { readonly [name: string]: string }): Target['files'] => {
  return () => ({
    files: { 'vercel.json': `${JSON.stringify({ framework: null }, null, 2)}\n` },
    scripts: {},
    dependencies: {},
    devDependencies: { '@hono/node-server': '^2.1.8', vercel: CLI_VERSION, ...tools },
    ignored: ['.vercel/'],
    ci: {
      setUp: [
        'secret VERCEL_TOKEN: for one team, with an expiry date',
        'secret VERCEL_AUTOMATION_BYPASS_SECRET: from Settings, Deployment Protection, so that --check can pass it',
        'variables VERCEL_ORG_ID and VERCEL_PROJECT_ID: from .vercel/project.json, which vercel link writes',
      ],
      secrets: ['VERCEL_TOKEN', 'VERCEL_AUTOMATION_BYPASS_SECRET'],
      variables: ['VERCEL_ORG_ID', 'VERCEL_PROJECT_ID'],
      previewReads:
        'the variables of the environment Preview, into which mayfly deploy --secret stores nothing: set them there, with other values than in production',
    },
  })
}

export const vercel: Target = {
  marks: { files: ['vercel.json', '.vercel/project.json'] },
  title: 'Vercel',
  ...abilitiesOf('vercel'),
  limits: [
    `a call may take ${shownValue(facts.callMs)}; MAYFLY_MAX_DURATION_MS at build time allows up to ${shownValue(facts.proCallMs)} on Pro, ${shownValue(facts.betaCallMs)} in beta`,
    `a request may be up to ${shownValue(facts.requestBytes)}`,
  ],
  start: artefactDev(onNode),
  ...onNode,
  ...common,
  files: filesWith({}),
}

export const vercelEdge: Target = {
  title: 'Vercel Edge',
  ...abilitiesOf('vercel-edge'),
  limits: [
    `a response must begin within ${shownValue(facts.edgeFirstByteMs)} and may take ${shownValue(facts.edgeCallMs)}`,
    `a request may be up to ${shownValue(facts.requestBytes)}`,
  ],
  start: artefactDev(onEdge),
  ...onEdge,
  ...common,
  examine: async (project) => [...(await examine(project)), EDGE_IS_DEPRECATED],
  files: filesWith({ 'edge-runtime': '^4.0.1' }),
}

/** https://vercel.com/docs/functions/runtimes/edge/edge-functions */
const EDGE_IS_DEPRECATED: Finding = {
  level: 'warning',
  message: 'Vercel has deprecated Edge Functions: use --target vercel, which runs on Node',
}

/** Returns the path of the function's main file. */
function writeOutput(project: Project, outDir: string, file: string, config: object): string {
  const folder = join(OUTPUT, FUNCTION)
  const crons = cronsOf(project)
  mkdirSync(join(outDir, folder), { recursive: true })
  writeFileSync(
    join(outDir, OUTPUT, 'config.json'),
    JSON.stringify({ ...CONFIG, ...(crons.length > 0 && { crons }) }),
  )
  writeFileSync(join(outDir, folder, '.vc-config.json'), JSON.stringify(config))
  return join(folder, file)
}

async function examine(project: Project): Promise<Finding[]> {
  const { cwd } = project
  const findings = [toolFinding(TOOL, cwd), ...cronFindings(project)]
  if (existsSync(join(cwd, '.vercel/project.json'))) {
    return [...findings, { level: 'ok', message: 'linked to a Vercel project' }]
  }
  return [
    ...findings,
    {
      level: 'warning',
      message:
        'not linked to a Vercel project: run npx vercel link, or set VERCEL_ORG_ID and VERCEL_PROJECT_ID',
    },
  ]
}

/** https://vercel.com/docs/cron-jobs/usage-and-pricing */
function cronFindings(project: Project): Finding[] {
  const schedule = cronsOf(project).find((cron) => !/^\d+ \d+ /.test(cron.schedule))?.schedule
  if (schedule === undefined) return []
  const message = `the schedule ${schedule} needs the Pro plan: on Hobby, deployments with a schedule of more than once a day fail; set "cron": { "path": …, "schedule": "0 3 * * *" } in package.json`
  return [{ level: 'warning', message }]
}
