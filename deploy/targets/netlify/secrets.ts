/** The variables of a site of Netlify, by its CLI's `netlify api`. */
import {
  readJson,
  type SecretStore,
  type SecretStoreOptions,
  secretsIn,
} from '../../contract/secret-store.ts'
import type { DeployStep, Project } from '../../contract/target.ts'
import { ownModule } from '../../project/own-module.ts'
import { CliError } from '../../terminal/cli-error.ts'
import { pickOptions } from '../tool-options.ts'
import { apiSite, COMMON_OPTIONS, netlifyPlace } from './place.ts'

const SITE_SECRETS = ownModule('deploy/targets/netlify/site-secrets')

/** What `site-secrets.ts` does. */
export interface SiteWork {
  readonly set?: ReadonlyMap<string, string>
  readonly remove?: readonly string[]
  readonly list?: true
}

export interface SiteStepOptions {
  /** The CLI's program. */
  readonly program: string
  readonly site: string
  /** Options of the CLI. */
  readonly common: readonly string[]
  readonly cwd: string
}

/** Values arrive on stdin; none is printed. */
export function siteStep(
  title: string,
  { set, ...work }: SiteWork,
  { program, site, common, cwd }: SiteStepOptions,
): DeployStep {
  return {
    title,
    command: process.execPath,
    args: [SITE_SECRETS, program, site, ...common],
    cwd,
    stdin: JSON.stringify({ ...work, ...(set && { set: Object.fromEntries(set) }) }),
  }
}

/** Throws `CliError` if nothing names the site. */
export function netlifySecrets(
  project: Project,
  program: string,
  { stage, extra, folder }: SecretStoreOptions,
): SecretStore {
  const place = netlifyPlace(project, { stage, extra })
  if (place.namedBy === undefined && stage === undefined)
    throw new CliError(`nothing names the site: ${place.claim}`)
  const where = {
    program,
    site: apiSite(place.name),
    common: pickOptions(extra, COMMON_OPTIONS),
    cwd: folder,
  }
  return {
    loginOptions: where.common,
    takesEffect: 'with the next deployment',
    list: siteStep('list the variables', { list: true }, where),
    read: (told) => secretsIn(readJson(told), { name: 'key', changed: ['updated_at'] }),
    set: (secrets) => [siteStep(`store ${[...secrets.keys()].join(', ')}`, { set: secrets }, where)],
    remove: (names) => [siteStep(`remove ${names.join(', ')}`, { remove: names }, where)],
  }
}
