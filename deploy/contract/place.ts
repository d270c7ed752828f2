/** Where a project is on its platform: what a deployment of it changes, in production or in another stage. */
import type { DeployStep, LookedUp } from './step.ts'

export interface PlaceOptions {
  /** Undefined: production. */
  readonly stage?: string | undefined
  /** Everything after `--`, for the platform's own tool. */
  readonly extra?: readonly string[]
}

export interface Place {
  /** Undefined: production. */
  readonly stage: string | undefined
  /** What the platform calls it: `Worker`, `project`, `site`, `function`, `app`, `stack`. */
  readonly kind: string
  /** Its name or id there. Never production's for a stage; the functions of two Supabase projects differ in the `account`. */
  readonly name: string
  /** The account, team, organization, region or project that it is in, as far as options, files and variables tell. */
  readonly account: string | undefined
  /**
   * The option, file or variable that names it. Undefined: only the project's name does, so something of that name may be there that is not
   * this project's.
   */
  readonly namedBy: string | undefined
  /** What to write so that it is named: `set NETLIFY_SITE_ID`. */
  readonly claim: string
  /** Options that make the commands of the platform's tool work on it. Empty if they do so by themselves. */
  readonly options: readonly string[]
  /** Variables for the platform's tool; an empty value hides one of the user's that names another place. */
  readonly env?: { readonly [name: string]: string }
  /** For tools that keep the place in a file: links this folder to it. Creates it if it does not exist. */
  link?(folder: string): DeployStep
  /** Creates it. Only for platforms whose upload does not. */
  readonly create?: DeployStep
  /** Whether projects of the platform are linked, so that one without a link is never the project's own. Default false. */
  readonly hasLinks?: boolean
  /** One line each, such as a store that production uses, too. */
  readonly warnings?: readonly string[]
  /** Asks the platform what is there, and changes nothing. */
  readonly lookUp?: {
    readonly step: DeployStep
    /** Undefined if the answer does not tell. Throws `CliError` if it tells that a stage is at production's place, or at another stage's. */
    read(answer: LookedUp): 'new' | 'exists' | undefined
    /** Whether only its answer shows that a stage is not at production's place, so that nothing is changed without one. Default false. */
    readonly isDecisive?: boolean
  }
}
