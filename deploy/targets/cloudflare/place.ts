/** Which Worker a deployment changes: the one that wrangler's configuration names, or its environment of the stage's name. */
import { readFileSync } from 'node:fs'
import { basename, extname } from 'node:path'
import { parse as parseJsonc } from 'jsonc-parser'
import { parse as parseToml } from 'smol-toml'
import { textOf } from '../../../src/definition/error-text.ts'
import type { Place, PlaceOptions } from '../../contract/place.ts'
import type { LookedUp } from '../../contract/step.ts'
import type { Project } from '../../contract/target.ts'
import { declaration, declaredPlace, refuseShared } from '../../project/stages.ts'
import { CliError, printable } from '../../terminal/cli-error.ts'
import { optionValue, refusePlaceOptions } from '../tool-options.ts'
import { findWranglerConfig } from './config.ts'

const ENV_OPTIONS = ['--env', '-e']
const NAME_OPTIONS = ['--name']
const PLACE_OPTIONS = [...ENV_OPTIONS, ...NAME_OPTIONS, '--config', '-c']

export interface Settings {
  readonly [member: string]: unknown
}

/** Throws `CliError` for a stage that the configuration does not have, or that would take over what is production's. */
export function cloudflarePlace(project: Project, { stage, extra = [] }: PlaceOptions): Place {
  refusePlaceOptions(stage, extra, PLACE_OPTIONS)
  const path = findWranglerConfig(project.cwd)
  const settings = path === undefined ? {} : readSettings(path)
  const own = text(settings.name) ?? project.name
  const declared = stage === undefined ? undefined : declaredPlace(project, stage, 'cloudflare')
  const place = path === undefined ? unconfigured(project, stage, extra, declared) : configured(path)
  const { name } = place
  refuseShared([name], { project, target: 'cloudflare', stage, production: [own] })
  const config = path === undefined ? [] : ['--config', path]
  return {
    stage,
    kind: 'Worker',
    account: process.env.CLOUDFLARE_ACCOUNT_ID || undefined,
    claim: `write a wrangler.toml with name = "${name}"`,
    ...place,
    lookUp: {
      step: {
        title: `look for the Worker ${name}`,
        args: ['deployments', 'list', '--name', name, '--json', ...config],
        cwd: project.cwd,
      },
      read: readDeployments,
    },
  }

  function configured(file: string): Pick<Place, 'name' | 'namedBy' | 'options'> & Partial<Place> {
    const account = text(settings.account_id) ?? (process.env.CLOUDFLARE_ACCOUNT_ID || undefined)
    const env = stage ?? environmentIn(extra) ?? process.env.CLOUDFLARE_ENV ?? ''
    if (env === '') {
      const given = optionValue(extra, NAME_OPTIONS)
      return {
        name: given ?? own,
        account,
        namedBy: given === undefined ? basename(file) : '--name',
        options: [],
      }
    }
    const section = settings.env && (settings.env as Settings)[env]
    if (typeof section !== 'object' || section === null) {
      if (stage !== undefined) throw missing(file, stage)
      return { name: `${own}-${env}`, account, namedBy: '--env', options: [] }
    }
    const { account_id } = section as Settings
    const found = workerOf(own, env, section)
    const place = { name: found, account: text(account_id) ?? account, namedBy: basename(file) }
    if (stage === undefined) return { ...place, options: [] }
    refuseSameWorker(file, stage, own, settings.env as Settings)
    if (declared !== undefined && declared !== found)
      throw new CliError(
        `${basename(file)} names the Worker of ${stage} ${printable(found)}, and package.json ${declared}: remove "cloudflare" from package.json`,
      )
    refuseRoutes(file, stage, settings, section as Settings)
    const ofProduction = storesIn(settings)
    const shared = storesIn(section).filter((store) => ofProduction.includes(store))
    const warnings = shared.map(
      (store) => `${stage} and production share ${printable(store)}: name another one in [env.${stage}]`,
    )
    return { ...place, options: ['--env', stage], env: { CLOUDFLARE_ENV: '' }, warnings }
  }
}

function unconfigured(
  project: Project,
  stage: string | undefined,
  extra: readonly string[],
  declared: string | undefined,
): Pick<Place, 'name' | 'namedBy' | 'options' | 'claim'> {
  if (stage === undefined) {
    const given = optionValue(extra, NAME_OPTIONS)
    const env = environmentIn(extra) ?? (process.env.CLOUDFLARE_ENV || undefined)
    const name = given ?? (env === undefined ? project.name : `${project.name}-${env}`)
    const namedBy = given === undefined ? undefined : '--name'
    return { name, namedBy, options: [], claim: `write a wrangler.toml with name = "${name}"` }
  }
  const name = declared ?? `${project.name}-${stage}`
  return {
    name,
    namedBy: declared && 'package.json',
    options: ['--name', name],
    claim: `write ${declaration(stage, 'cloudflare', name)}`,
  }
}

/** The value goes into messages: what cannot be a name may be a secret. */
function environmentIn(extra: readonly string[]): string | undefined {
  const env = optionValue(extra, ENV_OPTIONS)
  return env !== undefined && /^[\w-]*$/.test(env) ? env : undefined
}

function missing(file: string, stage: string): CliError {
  const lines = extname(file) === '.toml' ? `[env.${stage}]` : `"env": { "${stage}": {} }`
  return new CliError(
    `${basename(file)} has no environment ${stage}: add ${lines} with the bindings of that stage, which wrangler does not take over from production`,
  )
}

/** The name of an environment's Worker. */
function workerOf(own: string, env: string, section: unknown): string {
  return text((section as Settings | null)?.name) ?? `${own}-${env}`
}

/** Throws `CliError` if another environment is the same Worker. */
function refuseSameWorker(file: string, stage: string, own: string, sections: Settings): void {
  const found = workerOf(own, stage, sections[stage])
  const other = Object.keys(sections).find(
    (env) => env !== stage && workerOf(own, env, sections[env]).toLowerCase() === found.toLowerCase(),
  )
  if (other === undefined) return
  throw new CliError(
    `${stage} would be the Worker ${printable(found)} of [env.${printable(other)}]: give one of them another name in ${basename(file)}`,
  )
}

/** Wrangler gives the routes of production to an environment that has none, and so takes them from production's Worker. */
function refuseRoutes(file: string, stage: string, top: Settings, section: Settings): void {
  const own = patternsOf(section)
  const taken = 'route' in section || 'routes' in section ? own : patternsOf(top)
  const [shared] = patternsOf(top).filter((pattern) => taken.includes(pattern))
  if (shared === undefined) return
  throw new CliError(
    `${stage} would take production's route ${printable(shared)}: set routes in [env.${stage}] of ${basename(file)}, such as routes = []`,
  )
}

function patternsOf({ route, routes }: Settings): string[] {
  return [route, routes].flat().flatMap((one) => {
    const pattern = typeof one === 'object' && one !== null ? (one as Settings).pattern : one
    return typeof pattern === 'string' ? [pattern] : []
  })
}

/** Ids of stores and queues that both name. */
const STORES: readonly (readonly [path: readonly string[], id: string, title: string])[] = [
  [['kv_namespaces'], 'id', 'the KV namespace'],
  [['d1_databases'], 'database_id', 'the D1 database'],
  [['r2_buckets'], 'bucket_name', 'the R2 bucket'],
  [['hyperdrive'], 'id', 'the Hyperdrive'],
  [['vectorize'], 'index_name', 'the Vectorize index'],
  [['queues', 'producers'], 'queue', 'the queue'],
  [['queues', 'consumers'], 'queue', 'the queue'],
]

/** `the KV namespace abc`, for each store that a part of the configuration names. */
function storesIn(settings: unknown): string[] {
  const found = STORES.flatMap(([path, id, title]) => {
    const list = path.reduce<unknown>((at, name) => (at as Settings | undefined)?.[name], settings)
    const ids = Array.isArray(list) ? list.map((one) => text((one as Settings)[id])) : []
    return ids.filter((one) => one !== undefined).map((one) => `${title} ${one}`)
  })
  return [...new Set(found)]
}

/** Those of the stage's environment. Empty without a configuration. */
export function storesOfStage({ cwd }: Project, stage: string | undefined): readonly string[] {
  const path = findWranglerConfig(cwd)
  const sections = path === undefined ? undefined : (readSettings(path).env as Settings | undefined)
  return storesIn(stage === undefined ? undefined : sections?.[stage])
}

/** As wrangler reads it. Throws `CliError`. */
export function readSettings(file: string): Settings {
  const content = readFileSync(file, 'utf8')
  try {
    const settings: unknown = extname(file) === '.toml' ? parseToml(content) : parseJsonc(content)
    return typeof settings === 'object' && settings !== null ? (settings as Settings) : {}
  } catch (error) {
    throw new CliError(`cannot read ${basename(file)}: ${printable(textOf(error).split('\n')[0] ?? '')}`)
  }
}

/** A Worker has at least one deployment. The codes are Cloudflare's for a Worker that does not exist. */
function readDeployments({ code, output }: LookedUp): 'new' | 'exists' | undefined {
  if (code !== 0) return /\b(?:10007|10090)\b/.test(output) ? 'new' : undefined
  return /"created_on"/.test(output) ? 'exists' : undefined
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
