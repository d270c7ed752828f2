/** Which stack of CloudFormation a deployment changes. A stage is a stack of its own, with its own secrets, table and queue. */
import type { Place, PlaceOptions } from '../../contract/place.ts'
import type { LookedUp } from '../../contract/step.ts'
import type { Project } from '../../contract/target.ts'
import { declaration, declaredPlace, refuseShared } from '../../project/stages.ts'
import { UsageError } from '../../terminal/cli-error.ts'
import { optionValue, pickOptions, refusePlaceOptions } from '../tool-options.ts'
import { MAX_STACK_NAME } from './github-role.ts'

/** The stack, if its name is not the project's. */
export const STACK_OPTIONS = ['--stack-name']
/** Options of `sam` that the AWS CLI has too. */
export const AWS_OPTIONS = ['--region', '--profile']

/** What stacks beside a server's own are called: its store of secrets, and its role for GitHub. */
const BESIDE = /-(?:secrets|github)$/

/** Throws `CliError` if a stage would be production's stack, `UsageError` for a name that is too long, or is that of another server's store. */
export function lambdaPlace(project: Project, { stage, extra = [] }: PlaceOptions): Place {
  refusePlaceOptions(stage, extra, STACK_OPTIONS)
  const given = optionValue(extra, STACK_OPTIONS)
  const declared = stage === undefined ? undefined : declaredPlace(project, stage, 'lambda')
  const name = stage === undefined ? (given ?? project.name) : (declared ?? `${project.name}-${stage}`)
  const remedy =
    stage === undefined ? 'pass -- --stack-name <name>' : `write ${declaration(stage, 'lambda', '<name>')}`
  refuseLongName(name, remedy)
  refuseShared([name], { project, target: 'lambda', stage, production: [project.name] })
  refuseBeside(name, remedy)
  const common = pickOptions(extra, AWS_OPTIONS)
  const { AWS_REGION, AWS_DEFAULT_REGION, AWS_PROFILE } = process.env
  const region = optionValue(extra, ['--region']) ?? (AWS_REGION || AWS_DEFAULT_REGION || undefined)
  const profile = optionValue(extra, ['--profile']) ?? (AWS_PROFILE || undefined)
  return {
    stage,
    kind: 'stack',
    name,
    account: [profile && `profile ${profile}`, region].filter(Boolean).join(', ') || undefined,
    // The package names production's stack, since no file of SAM does.
    namedBy:
      given !== undefined
        ? '--stack-name'
        : stage === undefined
          ? 'package.json'
          : declared && 'package.json',
    claim:
      stage === undefined ? `pass -- --stack-name ${name}` : `write ${declaration(stage, 'lambda', name)}`,
    options: ['--stack-name', name],
    lookUp: {
      step: {
        title: `look for the stack ${name}`,
        args: [
          ...['cloudformation', 'describe-stacks', '--stack-name', name],
          ...['--query', 'Stacks[0].StackStatus', '--output', 'text', ...common],
        ],
        cwd: project.cwd,
      },
      read: readStatus,
    },
  }
}

/** Throws `UsageError` for a name that no stack of a server can have. */
export function refuseStackName(name: string, remedy: string): void {
  refuseLongName(name, remedy)
  refuseBeside(name, remedy)
}

function refuseLongName(name: string, remedy: string): void {
  if (name.length <= MAX_STACK_NAME) return
  throw new UsageError(
    `the stack's name, ${name}, has ${name.length} characters: AWS allows ${MAX_STACK_NAME}, since names of functions begin with it; ${remedy}`,
  )
}

function refuseBeside(name: string, remedy: string): void {
  if (!BESIDE.test(name)) return
  throw new UsageError(
    `the stack ${name} has the name of what belongs to the server ${name.replace(BESIDE, '')} (its secrets, or its role for GitHub): ${remedy}`,
  )
}

function readStatus({ code, output }: LookedUp): 'new' | 'exists' | undefined {
  if (code !== 0) return /does not exist/.test(output) ? 'new' : undefined
  // A stack that was created by a failed change set only.
  if (/\bREVIEW_IN_PROGRESS\b/.test(output)) return 'new'
  return /\b(?:CREATE|UPDATE|ROLLBACK|DELETE|IMPORT)_\w+/.test(output) ? 'exists' : undefined
}
