/** Supabase Edge Functions: a function's folder, as `supabase functions deploy` expects it. */

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { textOf } from '../../../src/definition/error-text.ts'
import { bundleServer, NODE_BANNER } from '../../build/bundle-server.ts'
import { abilitiesOf } from '../../contract/abilities.ts'
import { FACTS, shownValue, sizeLimit } from '../../contract/facts.ts'
import {
  type Artefact,
  type Deployment,
  type DeploymentOptions,
  type DeployStep,
  type Finding,
  type Launch,
  type Logs,
  type Project,
  SECRET_FILE,
  type Target,
} from '../../contract/target.ts'
import { cronsOf } from '../../project/cron.ts'
import { ownModule } from '../../project/own-module.ts'
import { toEnvFile } from '../../project/secrets.ts'
import { withStage } from '../../project/stages.ts'
import { artefactDev } from '../artefact-dev.ts'
import { denoProgram } from '../deno/program.ts'
import { toolFinding } from '../deploy-tool.ts'
import { pickOptions, withoutOptions } from '../tool-options.ts'
import { LINK_FILE, PROJECT_OPTIONS, productionRef, supabasePlace } from './place.ts'
import { supabaseRemoval } from './release.ts'
import { supabaseSecrets } from './secrets.ts'
import { readOwnVariables, toProjectVariables, variablePrefix } from './variables.ts'

const MAIN = `import server from 'mayfly:entry'
import { supabase } from 'mayfly-mcp/supabase'

Deno.serve(supabase(server))
`

const GATEWAY = ownModule('deploy/targets/supabase/gateway')

const { supabase: facts } = FACTS
const LIMITS: Artefact['limits'] = [sizeLimit(facts.functionBytes, 'raw')]

const artefact: Pick<Target, 'build' | 'preview'> = {
  build: async (project, outDir) => {
    const folder = join('supabase/functions', project.name)
    mkdirSync(join(outDir, folder), { recursive: true })
    const main = join(folder, 'index.js')
    // In one file: what follows an `import` without a space, as in minified code, the CLI does not upload.
    const { size } = await bundleServer(project, {
      main: MAIN,
      outfile: join(outDir, main),
      platform: 'node',
      conditions: ['deno'],
      banner: `${NODE_BANNER}${readOwnVariables(project.name)}`,
    })
    writeFileSync(join(outDir, folder, 'deno.json'), '{ "imports": {} }\n')
    writeFileSync(join(outDir, 'supabase/config.toml'), configFor(project.name, './functions'))
    return { main, size, limits: LIMITS }
  },
  preview: (outDir, { port, project }): Launch => ({
    command: GATEWAY,
    args: [
      String(port),
      project.name,
      denoProgram(project.cwd),
      join(outDir, 'supabase/functions', project.name, 'index.js'),
    ],
    cwd: outDir,
    path: pathOf(project.name),
  }),
}

const pathOf = (name: string): string => `/functions/v1/${name}/mcp`

export const supabase: Target = {
  title: 'Supabase Edge Functions',
  ...abilitiesOf('supabase'),
  defaultPort: 54321,
  marks: { files: ['supabase/config.toml'] },
  // https://supabase.com/docs/guides/functions/limits#other-limits--restrictions, read on 2026-11-29.
  textDomain: '.supabase.co',
  limits: [
    `a call may take ${shownValue(facts.callMs)}, ${shownValue(facts.paidCallMs)} on paid plans (MAYFLY_MAX_DURATION_MS), with ${shownValue(facts.cpuMs)} of CPU time`,
  ],
  start: artefactDev(artefact),
  ...artefact,
  place: supabasePlace,
  secretStore: (project, options) => ({ tool: TOOL, ...supabaseSecrets(project, options) }),
  removal: (project, options) => ({ tool: TOOL, ...supabaseRemoval(project, options) }),
  deployment,
  logs,
  examine,
  files: ({ name, hasTasks = false, hasEvents = false }) => ({
    files: {
      'supabase/config.toml': configFor(name, '../dist/supabase/supabase/functions'),
      ...(hasTasks && { 'supabase/cron.sql': cronSql(name, 'tasks', 'runs the tasks that are due') }),
      ...(hasEvents && { 'supabase/cron.sql': cronSql(name, 'events', 'repeats deliveries that failed') }),
    },
    path: pathOf(name),
    scripts: {},
    dependencies: {},
    devDependencies: { supabase: '^3.1.0', deno: '^2.9.5' },
    ignored: ['supabase/.temp/', 'supabase/.branches/'],
    ci: {
      setUp: [
        'secret SUPABASE_ACCESS_TOKEN: token of a user who may deploy functions',
        'variable SUPABASE_PROJECT_ID: the reference of the project',
      ],
      secrets: ['SUPABASE_ACCESS_TOKEN'],
      // The CLI also reads it.
      variables: ['SUPABASE_PROJECT_ID'],
    },
  }),
}

/** The names that `mayfly init` wrote before. */
const SHARED_SCHEDULE = /'(?:mayfly-tasks|tasks_url|tasks_secret)'/

/** https://supabase.com/docs/guides/functions/schedule-functions */
const cronSql = (
  name: string,
  path: 'tasks' | 'events',
  does: string,
): string => `-- Lets the database call the function each minute, which ${does}. Run this once in the SQL editor, with your own
-- values for the two secrets. The names are this function's: if one exists, it ends with an error and changes nothing.
begin;
create extension if not exists pg_cron;
create extension if not exists pg_net;
select vault.create_secret('https://<project>.supabase.co/functions/v1/${name}/${path}', '${name}_${path}_url');
select vault.create_secret('<CRON_SECRET of .env>', '${name}_${path}_secret');
select cron.schedule('${name}-${path}', '* * * * *', $$
  select net.http_post(
    url := (select decrypted_secret from vault.decrypted_secrets where name = '${name}_${path}_url'),
    headers := jsonb_build_object(
      'authorization', 'Bearer ' || (select decrypted_secret from vault.decrypted_secrets where name = '${name}_${path}_secret')
    ),
    timeout_milliseconds := 60000
  )
$$);
commit;
`

/**
 * MCP clients send their own tokens or none, so the platform's gateway would refuse their requests.
 *
 * @param functions The folder of the built functions, relative to the configuration.
 */
function configFor(name: string, functions: string): string {
  return `[functions.${name}]
enabled = true
verify_jwt = false
entrypoint = "${functions}/${name}/index.js"
import_map = "${functions}/${name}/deno.json"
`
}

const TOOL: Deployment['tool'] = {
  name: 'supabase',
  npm: 'supabase',
  install: 'npm install --save-dev supabase',
  login: 'npx supabase login',
  whoami: ['projects', 'list'],
  token: 'SUPABASE_ACCESS_TOKEN',
}

/** Options that `secrets set` also accepts. */
const GLOBAL_OPTIONS = [...PROJECT_OPTIONS, '--profile', '--dns-resolver', '--debug', '--experimental']

/** A project's reference in its host name. Branches have names, and hosts that only Supabase knows. */
const PROJECT_REF = /^[a-z]{20}$/

function deployment(
  outDir: string,
  project: Project,
  { secrets, extra, stage }: DeploymentOptions,
): Deployment {
  // `supabase link` writes into the user's project, not into the built folder.
  const linked = join(project.cwd, LINK_FILE)
  const place = supabasePlace(project, { stage, extra })
  const variables = toProjectVariables(project.name, withStage(secrets, stage))
  if (existsSync(linked)) {
    mkdirSync(join(outDir, 'supabase/.temp'), { recursive: true })
    writeFileSync(join(outDir, LINK_FILE), readFileSync(linked))
  }
  const own = ['--workdir', outDir, '--yes']
  const common = pickOptions(extra, GLOBAL_OPTIONS)
  const setSecrets: DeployStep = {
    title: `hand over ${[...variables.keys()].join(', ')}`,
    args: ['secrets', 'set', '--env-file', SECRET_FILE, ...own, ...place.options, ...common],
    cwd: project.cwd,
    secretFile: toEnvFile(variables, { expands: false }),
  }
  return {
    tool: { ...TOOL, whoami: [...TOOL.whoami, ...withoutOptions(common, PROJECT_OPTIONS)] },
    steps: [
      ...(variables.size > 0 ? [setSecrets] : []),
      {
        title: 'upload the function',
        // Bundled by the platform's API, so Docker is not needed.
        args: [
          'functions',
          'deploy',
          project.name,
          '--use-api',
          '--no-verify-jwt',
          ...own,
          ...place.options,
          ...extra,
        ],
        cwd: project.cwd,
      },
    ],
    ...(variables.size > 0 && {
      notes: [
        `all functions of a project have its secrets: those of ${project.name} are stored as ${variablePrefix(project.name)}…, and it reads them by their own names`,
      ],
    }),
    endpoint: { find: () => endpointOf(project, place.account) },
  }
}

function refOf(project: Project, extra: readonly string[]): string | undefined {
  const { ref } = productionRef(project, extra)
  return ref !== undefined && PROJECT_REF.test(ref) ? ref : undefined
}

function endpointOf({ name }: Project, ref = ''): string | undefined {
  return !PROJECT_REF.test(ref) ? undefined : `https://${ref}.supabase.co/functions/v1/${name}/mcp`
}

/** Shows the last hour: in a viewer on a terminal, otherwise once. It does not follow the log. */
function logs(project: Project, extra: readonly string[]): Logs {
  const common = pickOptions(extra, GLOBAL_OPTIONS)
  const { stage } = project
  const ref = stage === undefined ? refOf(project, extra) : supabasePlace(project, { stage, extra }).account
  const isNamed = pickOptions(extra, PROJECT_OPTIONS).length > 0
  const which = isNamed ? [] : [ref === undefined ? '--remote' : `--remote=${ref}`]
  return {
    tool: { ...TOOL, whoami: [...TOOL.whoami, ...withoutOptions(common, PROJECT_OPTIONS)] },
    step: {
      title: 'show the log',
      args: ['logs', ...which, '--service', 'functions', ...extra],
      cwd: project.cwd,
    },
  }
}

async function examine(project: Project): Promise<Finding[]> {
  const { cwd, name } = project
  const findings: Finding[] = [toolFinding(TOOL, cwd)]
  if (cronsOf(project).length > 0) {
    const message =
      'the schedule is in the database: run supabase/cron.sql there once, see docs/tasks-runners.md'
    findings.push({ level: 'ok', message })
  }
  const schedule = join(cwd, 'supabase/cron.sql')
  if (existsSync(schedule) && SHARED_SCHEDULE.test(readFileSync(schedule, 'utf8'))) {
    findings.push({
      level: 'warning',
      message: `supabase/cron.sql uses names that every function of the project would use, so a second one takes over the schedule of the first: rename them to ${name}_tasks_url, ${name}_tasks_secret and ${name}-tasks, run it, then run select cron.unschedule('mayfly-tasks')`,
    })
  }
  try {
    findings.push({ level: 'ok', message: `deno found, for mayfly dev: ${denoProgram(cwd)}` })
  } catch (error) {
    findings.push({ level: 'warning', message: textOf(error) })
  }
  const config = join(cwd, 'supabase/config.toml')
  const gate = new RegExp(`\\[functions\\.${name}\\][^[]*verify_jwt\\s*=\\s*true`)
  if (existsSync(config) && gate.test(readFileSync(config, 'utf8'))) {
    findings.push({
      level: 'warning',
      message: `verify_jwt is on for ${name}: MCP clients without a Supabase token are refused before they reach the server; set it to false in supabase/config.toml`,
    })
  }
  return findings
}
