/** One command of a platform's own tool, and how it gets secrets and reports its result. */
export interface DeployStep {
  /** What it does, in a few words: `upload the function`. */
  readonly title: string
  /** A program other than the deployment's tool. */
  readonly command?: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env?: { readonly [name: string]: string }
  /** Where secrets go: never on a command line, never printed. */
  readonly stdin?: string
  /** Replaces `stdin`, once its turn has come, by what `make` returns for the output of `lookUp`, which is not shown. It throws `CliError`. */
  readonly stdinFrom?: {
    readonly lookUp: DeployStep
    /** `found` is undefined if the look-up failed. */
    make(found: string | undefined): string
  }
  /** Asked before the step runs, and not shown. `refuse` throws `CliError` unless the answers say that the step changes only what is its own. */
  readonly guard?: {
    readonly lookUps: readonly DeployStep[]
    /** One answer for each of `lookUps`; one that took too long has failed. */
    refuse(answers: readonly LookedUp[]): void
  }
  /**
   * For a tool that reads secrets only from a file. Only its owner can read the file, and it is removed afterwards; `SECRET_FILE` in
   * `args`.
   */
  readonly secretFile?: string
  /** How it reports its result: on stdout (also shown on stderr), or in the file that this variable names. */
  readonly tells?: 'stdout' | { readonly variable: string }
}

/** What a tool that only looks something up answered. */
export interface LookedUp {
  readonly code: number
  /** stdout and stderr. */
  readonly output: string
}

/** Placeholder in a step's `args` for the path of its `secretFile`. */
export const SECRET_FILE = '{secret file}'
