/** The stage of a deployment, such as `staging` beside production, which its names contain. */

/** The variable that names the stage. Production has none. */
export const STAGE_VARIABLE = 'MAYFLY_STAGE'

/** Short, so that a name of every platform has room for it beside the server's. */
const STAGE = /^[a-z](?:-?[a-z0-9]){0,19}$/
const MAX_LENGTH = 20

/** What production is called by those who think that it is a stage, too. In any case, as people write variables. */
const PRODUCTION = /^prod(?:uction)?$/i

/** `<server>-secrets` and `<server>-github` are stacks of production. */
const RESERVED = ['secrets', 'github']

/**
 * The stage in `env`: the value of `MAYFLY_STAGE`. Undefined if it is not set, or empty.
 *
 * @throws TypeError for a value that is not the name of a stage, as `requireStage` does: two stages must not become one, and none production.
 */
export function stageOf(env: unknown): string | undefined {
  const value: unknown =
    typeof env === 'object' && env !== null ? Reflect.get(env, STAGE_VARIABLE) : undefined
  if (value === undefined || value === null || value === '') return undefined
  requireStage(value, STAGE_VARIABLE)
  return value
}

/**
 * The stage of a request, from what came with it, otherwise that of the process: frameworks often pass no variables, and two stages must not
 * become one there. The only variable that the core reads by itself. Where reading needs a permission that is missing, there is none.
 *
 * @throws TypeError for an invalid stage.
 */
export function stageIn(env: unknown): string | undefined {
  return stageOf(env) ?? stageOf(variablesOfProcess())
}

function variablesOfProcess(): unknown {
  try {
    const { process } = globalThis as { readonly process?: { readonly env?: { [name: string]: unknown } } }
    return { [STAGE_VARIABLE]: process?.env?.[STAGE_VARIABLE] }
  } catch {
    return undefined
  }
}

/**
 * The one rule for the name of a stage, in a variable, in an option and on the command line: 1 to 20 lower case letters, digits and single
 * "-", a letter first. Not `production` or `prod`, since production has none, and not `secrets` or `github`, which belong to production.
 *
 * @param source Where it was written, for the message.
 * @throws TypeError for anything else.
 */
export function requireStage(value: unknown, source: string): asserts value is string {
  if (typeof value === 'string' && PRODUCTION.test(value))
    throw new TypeError(
      `${source} names production, which is not a stage: without ${source}, production is meant.`,
    )
  if (
    typeof value !== 'string' ||
    value.length > MAX_LENGTH ||
    !STAGE.test(value) ||
    RESERVED.includes(value)
  )
    throw new TypeError(
      `${source} must be a name of 1 to ${MAX_LENGTH} lower case letters, digits and single "-", a letter first, other than ${RESERVED.join(' and ')}, such as staging. Remove it for production.`,
    )
}
