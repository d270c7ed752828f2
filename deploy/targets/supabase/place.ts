/** Which function of which Supabase project a deployment changes. A stage is another project, or a persistent branch, which has a reference too. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Place, PlaceOptions } from '../../contract/place.ts'
import type { LookedUp } from '../../contract/step.ts'
import type { Project } from '../../contract/target.ts'
import { declaration, declaredPlace, refuseShared } from '../../project/stages.ts'
import { CliError } from '../../terminal/cli-error.ts'
import { optionValue, pickOptions, refusePlaceOptions } from '../tool-options.ts'

export const LINK_FILE = 'supabase/.temp/project-ref'

/** The project: `--remote=<ref>`, the option's name since version 3.1 of the CLI; version 4 removes the other name. */
export const PROJECT_OPTIONS = ['--remote', '--project-ref']

/** Options that every command accepts. */
export const GLOBAL_OPTIONS = ['--profile', '--dns-resolver', '--debug', '--experimental']

/** Throws `CliError` for a stage that package.json does not name, or that would be production's. */
export function supabasePlace(project: Project, { stage, extra = [] }: PlaceOptions): Place {
  refusePlaceOptions(stage, extra, PROJECT_OPTIONS)
  const production = productionRef(project, extra)
  const neighbours = { project, target: 'supabase', stage, production: [production.ref] } as const
  if (stage === undefined) {
    const { ref, source } = production
    if (ref !== undefined) refuseShared([ref], neighbours)
    return placeOf(ref, ref && source, 'run npx supabase link, or set SUPABASE_PROJECT_ID')
  }
  const declared = declaredPlace(project, stage, 'supabase')
  if (declared === undefined)
    throw new CliError(
      `no Supabase project is named for ${stage}: create a project or a persistent branch, and write ${declaration(stage, 'supabase', '<its reference>')}`,
    )
  refuseShared([declared], neighbours)
  return placeOf(declared, 'package.json', 'write its reference into package.json')

  function placeOf(ref: string | undefined, namedBy: string | undefined, claim: string): Place {
    // An environment variable is before the link, and an option before both.
    const isGiven = pickOptions(extra, PROJECT_OPTIONS).length > 0
    const which = [`--remote=${ref}`]
    return {
      stage,
      kind: 'function',
      name: project.name,
      account: ref,
      namedBy,
      claim,
      options: stage === undefined || isGiven ? [] : which,
      hasLinks: true,
      ...(ref !== undefined && { lookUp: lookUpIn(which) }),
    }
  }

  function lookUpIn(which: readonly string[]): NonNullable<Place['lookUp']> {
    return {
      step: {
        title: `look for the function ${project.name}`,
        args: ['functions', 'list', ...which, '--output', 'json', ...pickOptions(extra, GLOBAL_OPTIONS)],
        cwd: project.cwd,
      },
      read: (answer) => readFunctions(answer, project.name),
    }
  }
}

/** The reference of the project, found like the CLI does: its option, the environment, the file of `supabase link`. */
export function productionRef(
  { cwd }: Project,
  extra: readonly string[],
): { ref: string | undefined; source: string } {
  const given = optionValue(extra, PROJECT_OPTIONS)
  if (given) return { ref: given, source: '--remote' }
  // GitHub makes an empty variable of one that is not set.
  const ofEnv = process.env.SUPABASE_PROJECT_ID
  if (ofEnv) return { ref: ofEnv, source: 'SUPABASE_PROJECT_ID' }
  const linked = join(cwd, LINK_FILE)
  return {
    ref: (existsSync(linked) ? readFileSync(linked, 'utf8').trim() : '') || undefined,
    source: LINK_FILE,
  }
}

function readFunctions({ code, output }: LookedUp, name: string): 'new' | 'exists' | undefined {
  const start = output.indexOf('[')
  if (code !== 0 || start < 0) return undefined
  try {
    const found = JSON.parse(output.slice(start, output.lastIndexOf(']') + 1)) as { slug?: string }[]
    return found.some(({ slug }) => slug === name) ? 'exists' : 'new'
  } catch {
    return undefined
  }
}
