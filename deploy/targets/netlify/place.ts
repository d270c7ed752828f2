/** Which site of Netlify a deployment changes. A stage is a site of its own: only a published deployment runs schedules. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Place, PlaceOptions } from '../../contract/place.ts'
import { readObject } from '../../contract/secret-store.ts'
import type { LookedUp } from '../../contract/step.ts'
import type { Project } from '../../contract/target.ts'
import { isOwnFolder } from '../../project/owner.ts'
import { declaration, declaredPlace, refuseShared } from '../../project/stages.ts'
import { CliError, printable } from '../../terminal/cli-error.ts'
import { optionValue, pickOptions, refusePlaceOptions } from '../tool-options.ts'

/** Options that every command of the CLI accepts. */
export const COMMON_OPTIONS = ['--auth', '--http-proxy', '--http-proxy-certificate-filename']
export const SITE_OPTIONS = ['-s', '--site']
const SITE_ID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i

/** In the CLI's order: its option, the environment, the file of `netlify link`. Throws `CliError` if a stage would be production's site. */
export function netlifyPlace(project: Project, { stage, extra = [] }: PlaceOptions): Place {
  refusePlaceOptions(stage, extra, [
    ...SITE_OPTIONS,
    '--alias',
    '-a',
    '--context',
    '--prod',
    '-p',
    '--create-site',
  ])
  const given = optionValue(extra, SITE_OPTIONS)
  // GitHub passes an unset variable as an empty one, which the CLI ignores too.
  const ofEnv = process.env.NETLIFY_SITE_ID || undefined
  const own = given ?? ofEnv ?? linkedSite(project.cwd)
  const production = [own, project.name]
  if (stage === undefined) {
    refuseOthers([own ?? project.name])
    const source =
      given !== undefined ? '--site' : ofEnv !== undefined ? 'NETLIFY_SITE_ID' : '.netlify/state.json'
    return placeOf({
      name: own ?? project.name,
      namedBy: own && source,
      claim: 'run npx netlify link, or set NETLIFY_SITE_ID',
      options: given !== undefined ? [] : ['--site', own ?? project.name],
    })
  }
  const declared = declaredPlace(project, stage, 'netlify')
  const name = declared ?? `${project.name}-${stage}`
  refuseOthers([name])
  return placeOf({
    name,
    namedBy: declared && 'package.json',
    claim: `write ${declaration(stage, 'netlify', name)}`,
    options: ['--site', name],
  })

  function refuseOthers(names: readonly string[]): void {
    refuseShared(names, { project, target: 'netlify', stage, production, canonical: siteHost })
  }

  function placeOf(place: Pick<Place, 'name' | 'namedBy' | 'claim' | 'options'>): Place {
    const common = pickOptions(extra, COMMON_OPTIONS)
    return {
      stage,
      kind: 'site',
      account: undefined,
      ...place,
      env: { NETLIFY_SITE_ID: '' },
      hasLinks: true,
      create: {
        title: `create the site ${place.name}`,
        args: ['sites:create', '--name', place.name, '--disable-linking', ...common],
        cwd: project.cwd,
      },
      lookUp: {
        step: {
          title: `look for the site ${place.name}`,
          args: ['api', 'getSite', '--data', JSON.stringify({ site_id: apiSite(place.name) }), ...common],
          cwd: project.cwd,
        },
        read: (answer) => {
          refuseOthers(namesIn(answer))
          return readSite(answer)
        },
        isDecisive: stage !== undefined && own !== undefined && ![own, place.name].every(isNetlifyHost),
      },
    }
  }
}

/** `shop`, `shop.netlify.app`, the older `shop.netlify.com` and the host of one of its deployments are one site. */
function siteHost(site: string): string {
  const host = apiSite(site)
    .replace(/(?::\d*)?$/, '')
    .replace(/\.$/, '')
  const own = /^(?:.*--)?([^.]+)\.netlify\.(?:app|com)$/.exec(host)?.[1]
  return own === undefined ? host : `${own}.netlify.app`
}

/** Whether two of them are one site only if they are the same. */
function isNetlifyHost(site: string): boolean {
  return /\.netlify\.app$/.test(siteHost(site))
}

/** As Netlify's API takes it. */
export function apiSite(site: string): string {
  return SITE_ID.test(site) || site.includes('.') ? site : `${site}.netlify.app`
}

/** In this folder or above it, as the CLI looks for it. */
function linkedSite(cwd: string, start: string = cwd): string | undefined {
  const path = join(cwd, '.netlify/state.json')
  if (!existsSync(path)) return dirname(cwd) === cwd ? undefined : linkedSite(dirname(cwd), start)
  // The CLI would read it, so nothing is uploaded either.
  if (![cwd, dirname(path), path].every((one) => isOwnFolder(one, start)))
    throw new CliError(
      `${printable(path)} belongs to another user: name your site with -- --site <name>, or NETLIFY_SITE_ID`,
    )
  try {
    return (JSON.parse(readFileSync(path, 'utf8')) as { siteId?: string }).siteId
  } catch {
    throw new CliError(`cannot read ${path}: run npx netlify link again`)
  }
}

/** The id, in what Netlify's API tells of a site. */
export function siteIdIn(output: string): string | undefined {
  const { id } = readObject(output)
  return typeof id === 'string' && SITE_ID.test(id) ? id : undefined
}

/** What else the site is called: its id and its own domains do not look like its name. */
function namesIn({ output }: LookedUp): string[] {
  const { id, name, custom_domain, domain_aliases } = readObject(output)
  return [id, name, custom_domain, domain_aliases].flat().filter((one) => typeof one === 'string')
}

function readSite({ code, output }: LookedUp): 'new' | 'exists' | undefined {
  if (code === 0) return /"account_(?:slug|id)"/.test(output) ? 'exists' : undefined
  return /\b404\b|Not Found/i.test(output) ? 'new' : undefined
}
