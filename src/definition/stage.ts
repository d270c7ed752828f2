/** The stage of a deployment, such as `staging` beside production, which its names contain. */

/** The variable that names the stage. Production has none. */
export const STAGE_VARIABLE = 'MAYFLY_STAGE'

/** Letters, digits and "-", which every platform allows in names and variables. */
const STAGE = /^[A-Za-z0-9-]{1,40}$/

/**
 * The stage in `env`: the value of `MAYFLY_STAGE`. Undefined if it is not set, or empty.
 *
 * @throws TypeError for a value that is not 1 to 40 letters, digits and "-", since two stages must not become one.
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

/** @throws TypeError for a stage that is not 1 to 40 letters, digits and "-". `source` is where it was written. */
export function requireStage(value: unknown, source: string): asserts value is string {
  if (typeof value !== 'string' || !STAGE.test(value))
    throw new TypeError(
      `${source} must be a name of at most 40 letters, digits and "-", such as staging. Remove it for production.`,
    )
}
