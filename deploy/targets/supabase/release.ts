/** Removing a stage, by Supabase's CLI. */
import type { ReleaseOptions, Removal } from '../../contract/release.ts'
import type { Project } from '../../contract/target.ts'
import { pickOptions } from '../tool-options.ts'
import { GLOBAL_OPTIONS, supabasePlace } from './place.ts'
import { variablePrefix } from './variables.ts'

/** https://supabase.com/docs/reference/cli/supabase-functions-delete. The project or branch of the stage may have more than the function. */
export function supabaseRemoval(project: Project, { stage, extra }: ReleaseOptions): Removal {
  const { account = '' } = supabasePlace(project, { stage, extra })
  return {
    loginOptions: pickOptions(extra, GLOBAL_OPTIONS),
    // The function has the same name in production's project.
    confirm: account,
    goes: [`the function ${project.name} of the project ${account}`],
    stays: [
      `the project, which may cost, with its tables and schedules`,
      `its secrets ${variablePrefix(project.name)}…: mayfly secrets remove`,
    ],
    steps: [
      {
        title: `remove the function ${project.name}`,
        args: ['functions', 'delete', project.name, `--remote=${account}`, '--yes', ...extra],
        cwd: project.cwd,
      },
    ],
  }
}
