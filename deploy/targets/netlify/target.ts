/** Netlify: a site without pages, whose one function or edge function serves every path. */

import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bundleServer, NODE_BANNER } from '../../build/bundle-server.ts'
import { abilitiesOf } from '../../contract/abilities.ts'
import { FACTS, shownValue, sizeLimit } from '../../contract/facts.ts'
import {
  type Artefact,
  type Deployment,
  type DeploymentOptions,
  type DeployStep,
  type Finding,
  FOUND,
  type Launch,
  type Logs,
  type Project,
  type Target,
} from '../../contract/target.ts'
import { cronCall, cronsOf } from '../../project/cron.ts'
import { ownModule } from '../../project/own-module.ts'
import { withStage } from '../../project/stages.ts'
import { artefactDev } from '../artefact-dev.ts'
import { DENO_OFFLINE, DENO_RUN, denoProgram } from '../deno/program.ts'
import { findTool, toolFinding } from '../deploy-tool.ts'
import { pickOptions } from '../tool-options.ts'
import { EDGE_HOST } from './edge-host.ts'
import { apiSite, COMMON_OPTIONS, netlifyPlace, siteIdIn } from './place.ts'
import { netlifyRemoval, netlifyRollback } from './release.ts'
import { netlifySecrets, siteStep } from './secrets.ts'

const FUNCTION_HOST = ownModule('deploy/targets/netlify/function-host')

const main = (adapter: string): string => `import server from 'mayfly:entry'
import { ${adapter} } from 'mayfly-mcp/netlify'

export default ${adapter}(server)
export const config = { path: '/*' }
`

const { netlify: facts } = FACTS
const FUNCTION_LIMITS: Artefact['limits'] = [sizeLimit(facts.functionBytes, 'gzip')]
const EDGE_LIMITS: Artefact['limits'] = [sizeLimit(facts.edgeFunctionBytes, 'gzip')]

const FUNCTION_FOLDER = 'netlify/functions'
const FUNCTION_FILE = join(FUNCTION_FOLDER, 'mcp.mjs')
const EDGE_FOLDER = 'netlify/edge-functions'

const FUNCTIONS = `[functions]\ndirectory = "${FUNCTION_FOLDER}"\n`

const asFunction: Pick<Target, 'build' | 'preview'> = {
  build: async (project, outDir) => {
    writeSite(outDir, FUNCTION_FOLDER, FUNCTIONS)
    writeCron(project, outDir)
    // In one file: Netlify's CLI bundles it again, without splitting (zip-it-and-ship-it 16.2).
    const { size } = await bundleServer(project, {
      main: main('netlify'),
      outfile: join(outDir, FUNCTION_FILE),
      platform: 'node',
      banner: NODE_BANNER,
    })
    return { main: FUNCTION_FILE, size, limits: FUNCTION_LIMITS }
  },
  preview: (outDir, { port }): Launch => ({
    command: FUNCTION_HOST,
    args: [String(port), join(outDir, FUNCTION_FILE)],
    cwd: outDir,
  }),
}

const asEdgeFunction: Pick<Target, 'build' | 'preview'> = {
  build: async (project, outDir) => {
    const file = join(EDGE_FOLDER, 'mcp.js')
    const hasCron = writeCron(project, outDir)
    writeSite(outDir, EDGE_FOLDER, hasCron ? FUNCTIONS : '')
    const { size } = await bundleServer(project, {
      main: main('netlifyEdge'),
      outfile: join(outDir, file),
      platform: 'node',
      conditions: ['deno', 'netlify'],
      banner: NODE_BANNER,
    })
    return { main: file, size, limits: EDGE_LIMITS }
  },
  preview: (outDir, { port, project }): Launch => {
    // Netlify's own bootstrap is not on npm: this runs Deno, as Netlify does, with its calling convention.
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
  defaultPort: 8888,
  hasPreviews: true,
  place: netlifyPlace,
  secretStore: (project, options) => ({
    tool: TOOL,
    ...netlifySecrets(project, findTool(TOOL, project.cwd) ?? TOOL.name, options),
  }),
  rollback: (project, options) => ({ tool: TOOL, ...netlifyRollback(project, options) }),
  removal: (project, options) => ({ tool: TOOL, ...netlifyRemoval(project, options) }),
  deployment,
  logs,
  examine,
}

/** `tools`: the packages that the preview needs. */
const filesWith = (tools: { readonly [name: string]: string }): Target['files'] => {
  return () => ({
    files: {},
    scripts: {},
    dependencies: {},
    devDependencies: { 'netlify-cli': '^27.10.2', ...tools },
    ignored: ['.netlify/'],
    ci: {
      setUp: [
        'secret NETLIFY_AUTH_TOKEN: a personal access token with an expiry date',
        'variable NETLIFY_SITE_ID: from .netlify/state.json, which netlify link writes',
      ],
      secrets: ['NETLIFY_AUTH_TOKEN'],
      variables: ['NETLIFY_SITE_ID'],
      previewReads:
        'the values for Deploy Previews: mayfly deploy --secret stores the same as for production, so give the site others there',
    },
  })
}

export const netlify: Target = {
  marks: { files: ['netlify.toml', '.netlify/state.json'] },
  title: 'Netlify Functions',
  ...abilitiesOf('netlify'),
  limits: [
    `a call may take ${shownValue(facts.callMs)}`,
    `a buffered response may be up to ${shownValue(facts.bufferedBytes)}, a streamed one ${shownValue(facts.streamedBytes)}`,
  ],
  start: artefactDev(asFunction),
  ...asFunction,
  ...common,
  files: filesWith({ '@hono/node-server': '^2.1.8' }),
}

export const netlifyEdge: Target = {
  title: 'Netlify Edge Functions',
  ...abilitiesOf('netlify-edge'),
  limits: [
    `a response must begin within ${shownValue(facts.edgeFirstByteMs)}, with ${shownValue(facts.edgeCpuMs)} of CPU time`,
  ],
  start: artefactDev(asEdgeFunction),
  ...asEdgeFunction,
  ...common,
  files: filesWith({ deno: '^2.9.5' }),
}

/**
 * `netlify deploy` builds first. Without a command here it would run the dashboard's in this folder, after it was searched for secrets, and
 * upload what that writes.
 */
const BUILD = `[build]
publish = "public"
# Mayfly has built this folder: the command of the dashboard must not run in it.
command = "echo built by mayfly"
`

function writeSite(outDir: string, folder: string, more: string): void {
  mkdirSync(join(outDir, folder), { recursive: true })
  mkdirSync(join(outDir, 'public'), { recursive: true })
  // A site must publish something, but the function serves every path.
  writeFileSync(join(outDir, 'public/robots.txt'), 'User-agent: *\nDisallow: /\n')
  writeFileSync(join(outDir, 'netlify.toml'), `${BUILD}\n${more}`.trimEnd().concat('\n'))
}

/** A scheduled function for each path, which calls the site: https://docs.netlify.com/build/functions/scheduled-functions/ */
function writeCron(project: Project, outDir: string): boolean {
  const crons = cronsOf(project)
  if (crons.length === 0) return false
  mkdirSync(join(outDir, FUNCTION_FOLDER), { recursive: true })
  for (const [at, cron] of crons.entries())
    writeFileSync(
      join(outDir, FUNCTION_FOLDER, `cron${at === 0 ? '' : `-${at + 1}`}.mjs`),
      `export default ${cronCall([cron], { fetch: 'fetch', origin: 'process.env.URL' })}
export const config = { schedule: '${cron.schedule}' }
`,
    )
  return true
}

const TOOL: Deployment['tool'] = {
  name: 'netlify',
  npm: 'netlify-cli',
  install: 'npm install --save-dev netlify-cli',
  login: 'npx netlify login && npx netlify link',
  whoami: ['api', 'getCurrentUser'],
  token: 'NETLIFY_AUTH_TOKEN',
}

/** https://cli.netlify.com/commands/deploy */
function deployment(
  outDir: string,
  project: Project,
  { secrets, extra, isPreview = false, stage }: DeploymentOptions,
): Deployment {
  const common = pickOptions(extra, COMMON_OPTIONS)
  const place = netlifyPlace(project, { stage, extra })
  const variables = withStage(secrets, stage)
  const program = findTool(TOOL, project.cwd) ?? TOOL.name
  const setSecrets = (): DeployStep =>
    siteStep(
      `hand over ${[...variables.keys()].join(', ')}`,
      { set: variables },
      { program, site: apiSite(place.name), common, cwd: outDir },
    )
  return {
    tool: { ...TOOL, whoami: [...TOOL.whoami, ...common] },
    steps: [
      ...(variables.size > 0 ? [setSecrets()] : []),
      {
        title: 'upload the site with its function',
        args: ['deploy', ...(isPreview ? [] : ['--prod']), '--json', ...place.options, ...extra],
        cwd: outDir,
        ...(place.env && { env: place.env }),
        tells: 'stdout' as const,
      },
    ],
    endpoint: { find: (told) => endpointIn(told, isPreview) },
  }
}

/** The draft's own address, or the site's. */
function endpointIn(told: string, isPreview: boolean): string | undefined {
  const [, name, url] =
    new RegExp(`"(${isPreview ? 'deploy_url' : 'url|site_url'})":\\s*"(https?://[^"]+)"`).exec(told) ?? []
  return name !== undefined && url !== undefined ? new URL('/mcp', url).href : undefined
}

function logs(project: Project, extra: readonly string[]): Logs {
  const { cwd, stage } = project
  const tool = { ...TOOL, whoami: [...TOOL.whoami, ...pickOptions(extra, COMMON_OPTIONS)] }
  const args = ['logs', '--follow', '--source', 'functions', 'edge-functions', ...extra]
  const step = { title: 'show the log', args, cwd }
  if (stage === undefined) return { tool, step }
  // The command has no option for the site, and takes its id from this variable, but not its name.
  const { name, lookUp } = netlifyPlace(project, { stage, extra: pickOptions(extra, COMMON_OPTIONS) })
  return {
    tool,
    lookup: lookUp!.step,
    read: (told) => (lookUp!.read({ code: 0, output: told }) === 'exists' ? siteIdIn(told) : undefined),
    nothing: `Netlify tells no site ${name}: deploy it first with mayfly deploy --stage ${stage}`,
    step: { ...step, env: { NETLIFY_SITE_ID: FOUND } },
  }
}

async function examine({ cwd }: Project): Promise<Finding[]> {
  const isLinked = Boolean(process.env.NETLIFY_SITE_ID) || existsSync(join(cwd, '.netlify/state.json'))
  if (isLinked) return [toolFinding(TOOL, cwd), { level: 'ok', message: 'linked to a Netlify site' }]
  return [
    toolFinding(TOOL, cwd),
    {
      level: 'warning',
      message: 'not linked to a Netlify site: run npx netlify link, or set NETLIFY_SITE_ID',
    },
  ]
}
