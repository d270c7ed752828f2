/** Which project of Vercel a deployment changes. A stage is a project of its own: only production deployments run schedules. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Place, PlaceOptions } from '../../contract/place.ts'
import type { LookedUp } from '../../contract/step.ts'
import type { Project } from '../../contract/target.ts'
import { declaration, declaredPlace, refuseShared } from '../../project/stages.ts'
import { CliError } from '../../terminal/cli-error.ts'
import { optionValue, pickOptions, refusePlaceOptions } from '../tool-options.ts'
import { plain } from '../tool-output.ts'

/** Options that every command of the CLI accepts: https://vercel.com/docs/cli/global-options */
export const GLOBAL_OPTIONS = [
  ...['-t', '--token', '-S', '--scope', '-T', '--team', '--api', '-A', '--local-config'],
  ...['-Q', '--global-config', '-d', '--debug'],
]

const SCOPE_OPTIONS = ['-S', '--scope', '-T', '--team']
const PROJECT_OPTIONS = ['--project']

/** The project's own link, which `vercel link` writes. */
export const LINK_FILE = '.vercel/project.json'

interface Link {
  readonly orgId?: string
  readonly projectId?: string
  readonly projectName?: string
}

/** Throws `CliError` if a stage would be production's project. */
export function vercelPlace(project: Project, { stage, extra = [] }: PlaceOptions): Place {
  refusePlaceOptions(stage, extra, [...PROJECT_OPTIONS, '--target', '--prod', '--cwd'])
  const link = linkOf(project.cwd)
  // GitHub passes an unset variable as an empty one.
  const { VERCEL_ORG_ID, VERCEL_PROJECT_ID } = process.env
  const account = optionValue(extra, SCOPE_OPTIONS) ?? (VERCEL_ORG_ID || link.orgId)
  const production = [link.projectName ?? project.name, link.projectId, VERCEL_PROJECT_ID]
  const neighbours = { project, target: 'vercel', stage, production } as const
  if (stage === undefined) {
    const given = optionValue(extra, PROJECT_OPTIONS)
    const id = given ?? (VERCEL_PROJECT_ID || link.projectId)
    const isLink = given === undefined && (!VERCEL_PROJECT_ID || VERCEL_PROJECT_ID === link.projectId)
    return placeOf({
      name: isLink ? (link.projectName ?? id ?? project.name) : (id ?? project.name),
      namedBy: id && (given ? '--project' : isLink ? LINK_FILE : 'VERCEL_PROJECT_ID'),
      claim: 'run npx vercel link, or set VERCEL_ORG_ID and VERCEL_PROJECT_ID',
      env: {},
    })
  }
  const declared = declaredPlace(project, stage, 'vercel')
  const name = declared ?? `${link.projectName ?? project.name}-${stage}`
  return placeOf({
    name,
    namedBy: declared && 'package.json',
    claim: `write ${declaration(stage, 'vercel', name)}`,
    // Both name production's project, before the link.
    env: { VERCEL_ORG_ID: '', VERCEL_PROJECT_ID: '' },
  })

  function placeOf(
    place: Pick<Place, 'name' | 'namedBy' | 'claim'> & { env: Record<string, string> },
  ): Place {
    const { name: found, env } = place
    refuseShared([found], neighbours)
    const common = scopedOptions(extra, account)
    return {
      stage,
      kind: 'project',
      account,
      options: [],
      hasLinks: true,
      ...place,
      link: (folder) => ({
        title: `link the build to the project ${found}`,
        args: ['link', '--yes', '--project', found, ...common],
        cwd: folder,
        env,
      }),
      lookUp: {
        step: {
          title: `look for the project ${found}`,
          args: ['project', 'inspect', found, '--yes', ...common],
          cwd: project.cwd,
          env,
        },
        // Without a team, the CLI looks in another place than the one that it links to.
        read: (answer) => {
          const { id, name } = inspected(answer)
          refuseShared(
            [id, name].filter((one) => one !== undefined),
            neighbours,
          )
          const state = id === undefined ? missingIn(answer) : 'exists'
          return state === 'new' && account === undefined ? undefined : state
        },
        // The id alone does not tell the name.
        isDecisive: stage !== undefined && Boolean(VERCEL_PROJECT_ID) && VERCEL_PROJECT_ID !== link.projectId,
      },
    }
  }
}

/** The options of every command, with the account's scope unless another one is given. */
export function scopedOptions(extra: readonly string[], account: string | undefined): readonly string[] {
  const hasScope = pickOptions(extra, SCOPE_OPTIONS).length > 0
  const scope = hasScope || account === undefined ? [] : ['--scope', account]
  return [...pickOptions(extra, GLOBAL_OPTIONS), ...scope]
}

function linkOf(cwd: string): Link {
  const path = join(cwd, LINK_FILE)
  if (!existsSync(path)) return {}
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Link
  } catch {
    throw new CliError(`cannot read ${LINK_FILE}: run npx vercel link again`)
  }
}

/** What `vercel project inspect` tells of a project. */
export function inspected({ code, output }: LookedUp): { readonly id?: string; readonly name?: string } {
  if (code !== 0) return {}
  const [, id] = /^\s*ID\s+(prj_\S+)/m.exec(plain(output)) ?? []
  const [, name] = /^\s*Name\s+(\S+)/m.exec(plain(output)) ?? []
  return { ...(id !== undefined && { id }), ...(name !== undefined && { name }) }
}

function missingIn({ code, output }: LookedUp): 'new' | undefined {
  return code !== 0 && /There is no project|Project not found|not_found/i.test(output) ? 'new' : undefined
}
