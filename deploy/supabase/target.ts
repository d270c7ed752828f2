/** Supabase Edge Functions: a function's folder, as `supabase functions deploy` takes it. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { artefactDev } from '../artefact-dev.ts'
import { bundleServer, NODE_BANNER } from '../bundle-server.ts'
import { denoProgram } from '../deno/program.ts'
import { toEnvFile } from '../secrets.ts'
import {
  type Artefact,
  type Deployment,
  type DeploymentOptions,
  type DeployStep,
  type Finding,
  type Launch,
  type Project,
  SECRET_FILE,
  type Target,
} from '../target.ts'

const MAIN = `import server from 'mayfly:entry'
import { supabase } from 'mayfly-mcp/supabase'

Deno.serve(supabase(server))
`

/** `.ts` from source, `.js` from dist/. */
const GATEWAY = fileURLToPath(new URL(`./gateway${extname(import.meta.url)}`, import.meta.url))

/** https://supabase.com/docs/guides/functions/limits */
const LIMITS: Artefact['limits'] = [{ name: 'function size', of: 'raw', bytes: 20_000_000 }]

const artefact: Pick<Target, 'build' | 'preview'> = {
  build: async (project, outDir) => {
    const folder = join('supabase/functions', project.name)
    mkdirSync(join(outDir, folder), { recursive: true })
    const main = join(folder, 'index.js')
    const size = await bundleServer(project, {
      main: MAIN,
      outfile: join(outDir, main),
      platform: 'node',
      conditions: ['deno'],
      banner: NODE_BANNER,
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
    path: `/functions/v1/${project.name}/mcp`,
  }),
}

export const supabase: Target = {
  title: 'Supabase Edge Functions',
  defaultPort: 54321,
  limits: ['a call may take 150 s, 400 s on paid plans (MAYFLY_MAX_DURATION_MS), with 2 s of CPU time'],
  start: artefactDev(artefact),
  ...artefact,
  deployment,
  examine,
  files: ({ name }) => ({
    files: { 'supabase/config.toml': configFor(name, '../dist/supabase/supabase/functions') },
    scripts: {},
    dependencies: {},
    devDependencies: { supabase: '^3.1.0', deno: '^2.9.5' },
    ignored: ['supabase/.temp/', 'supabase/.branches/'],
  }),
}

/**
 * MCP clients bring tokens of their own, or none: the platform's gate would refuse them before the server is asked.
 *
 * @param functions where `build` puts them, as seen from the configuration.
 */
function configFor(name: string, functions: string): string {
  return `[functions.${name}]
enabled = true
verify_jwt = false
entrypoint = "${functions}/${name}/index.js"
import_map = "${functions}/${name}/deno.json"
`
}

function deployment(outDir: string, project: Project, { secrets, extra }: DeploymentOptions): Deployment {
  // What supabase link has written in the user's project: the built folder is another.
  const linked = join(project.cwd, 'supabase/.temp/project-ref')
  if (existsSync(linked)) {
    mkdirSync(join(outDir, 'supabase/.temp'), { recursive: true })
    writeFileSync(join(outDir, 'supabase/.temp/project-ref'), readFileSync(linked))
  }
  const common = ['--workdir', outDir, '--yes', ...extra]
  const setSecrets: DeployStep = {
    title: `hand over ${[...secrets.keys()].join(', ')}`,
    args: ['secrets', 'set', '--env-file', SECRET_FILE, ...common],
    cwd: project.cwd,
    secretFile: toEnvFile(secrets),
  }
  return {
    tool: {
      name: 'supabase',
      npm: 'supabase',
      install: 'npm install --save-dev supabase',
      login: 'npx supabase login',
      whoami: ['projects', 'list'],
      token: 'SUPABASE_ACCESS_TOKEN',
    },
    steps: [
      ...(secrets.size > 0 ? [setSecrets] : []),
      {
        title: 'upload the function',
        // Bundled by the platform's API: no Docker is needed here.
        args: ['functions', 'deploy', project.name, '--use-api', '--no-verify-jwt', ...common],
        cwd: project.cwd,
      },
    ],
  }
}

async function examine({ cwd, name }: Project): Promise<Finding[]> {
  const findings: Finding[] = []
  try {
    findings.push({ level: 'ok', message: `deno found, for mayfly dev: ${denoProgram(cwd)}` })
  } catch (error) {
    findings.push({ level: 'warning', message: (error as Error).message })
  }
  const config = join(cwd, 'supabase/config.toml')
  const gate = new RegExp(`\\[functions\\.${name}\\][^[]*verify_jwt\\s*=\\s*true`)
  if (existsSync(config) && gate.test(readFileSync(config, 'utf8'))) {
    findings.push({
      level: 'warning',
      message: `verify_jwt is on for ${name}: MCP clients without a Supabase token are refused before the server is asked; set it to false in supabase/config.toml`,
    })
  }
  return findings
}
