/** Uploads the build to Vercel, with its own CLI. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { FACTS, shownValue } from '../../contract/facts.ts'
import type { Deployment, DeploymentOptions, Logs, Project } from '../../contract/target.ts'
import { readEnvFiles } from '../../project/env-files.ts'
import { PREVIEW_STAGE, STAGE_VARIABLE } from '../../project/stages.ts'
import { pickOptions } from '../tool-options.ts'
import { GLOBAL_OPTIONS, LINK_FILE, scopedOptions, vercelPlace } from './place.ts'

const { vercel: facts } = FACTS

export const TOOL: Deployment['tool'] = {
  name: 'vercel',
  npm: 'vercel',
  install: 'npm install --save-dev vercel',
  login: 'npx vercel login && npx vercel link',
  whoami: ['whoami'],
  token: 'VERCEL_TOKEN',
}

/** https://vercel.com/docs/cli/deploy */
export function deployment(
  outDir: string,
  project: Project,
  { secrets, extra, isPreview = false, stage }: DeploymentOptions,
): Deployment {
  const linked = join(project.cwd, LINK_FILE)
  // `vercel link` writes to the project's folder, not to the built one.
  if (stage === undefined && existsSync(linked)) writeFileSync(join(outDir, LINK_FILE), readFileSync(linked))
  const common = pickOptions(extra, GLOBAL_OPTIONS)
  const place = vercelPlace(project, { stage, extra })
  // `env add` knows no other way to name the project.
  const link = place.namedBy === undefined || stage !== undefined ? place.link?.(outDir) : undefined
  const env = place.env ?? {}
  const told = stage ?? (isPreview ? PREVIEW_STAGE : undefined)
  return {
    tool: { ...TOOL, whoami: [...TOOL.whoami, ...common] },
    notes: durationNotes(maxDurationOf(project)),
    steps: [
      ...(link === undefined ? [] : [link]),
      ...[...secrets].map(([name, value]) => ({
        title: `upload ${name}`,
        args: [
          'env',
          'add',
          name,
          isPreview ? 'preview' : 'production',
          '--sensitive',
          '--force',
          '--yes',
          ...common,
        ],
        cwd: outDir,
        env,
        stdin: value,
      })),
      {
        title: 'upload the function',
        args: [
          ...['deploy', '--prebuilt', ...(isPreview ? [] : ['--prod']), '--yes'],
          ...(told === undefined ? [] : ['--env', `${STAGE_VARIABLE}=${told}`]),
          ...extra,
        ],
        cwd: outDir,
        env,
        // When piped, stdout is only the URL: https://vercel.com/docs/cli/deploy#standard-output-usage
        tells: 'stdout' as const,
      },
    ],
    endpoint: { find: endpointIn, headers: bypassHeaders() },
  }
}

/** The header that lets `--check` pass Deployment Protection, with the project's automation secret. It is never on a command line. */
function bypassHeaders(): { readonly [name: string]: string } {
  const secret = process.env.VERCEL_AUTOMATION_BYPASS_SECRET
  return secret ? { 'x-vercel-protection-bypass': secret } : {}
}

/** The deployment's permanent URL. */
function endpointIn(told: string): string | undefined {
  const [url] = /https:\/\/\S+/.exec(told) ?? []
  return url !== undefined && URL.canParse(url) ? new URL('/mcp', url).href : undefined
}

/** https://vercel.com/docs/cli/logs */
export function logs(project: Project, extra: readonly string[]): Logs {
  const { cwd, stage } = project
  const tool = { ...TOOL, whoami: [...TOOL.whoami, ...pickOptions(extra, GLOBAL_OPTIONS)] }
  const step = { title: 'show the log', args: ['logs', '--follow', ...extra], cwd }
  if (stage === undefined) return { tool, step }
  const { name, account, env = {} } = vercelPlace(project, { stage, extra })
  const scope = scopedOptions(extra, account).slice(pickOptions(extra, GLOBAL_OPTIONS).length)
  return { tool, step: { ...step, args: [...step.args, '--project', name, ...scope], env } }
}

/** In seconds, from the environment or the project's variable files. Undefined: the platform's default. */
export function maxDurationOf(project: Project): number | undefined {
  const named = process.env.MAYFLY_MAX_DURATION_MS ?? readEnvFiles(project).variables.MAYFLY_MAX_DURATION_MS
  const seconds = Math.ceil(Number(named) / 1000)
  return seconds > 0 && Number.isSafeInteger(seconds) ? seconds : undefined
}

/** The plan that a deployment with this `maxDuration` needs. */
function durationNotes(seconds = 0): string[] {
  const isOver = ({ value }: { readonly value: number }): boolean => seconds * 1000 > value
  if (!isOver(facts.callMs)) return []
  const plan = isOver(facts.betaCallMs)
    ? `more than the ${shownValue(facts.betaCallMs)} that Vercel allows`
    : isOver(facts.proCallMs)
      ? 'in beta, on Fluid compute with a Pro or Enterprise plan'
      : 'for Pro and Enterprise plans'
  return [`a maxDuration of ${seconds} s (MAYFLY_MAX_DURATION_MS) is ${plan}`]
}
