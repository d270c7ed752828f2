/** Going back to an earlier deployment, and removing a stage: `mayfly rollback` and `mayfly destroy`. */
import type { DeployStep } from './step.ts'

export interface ReleaseOptions {
  /** Undefined: production. */
  readonly stage?: string | undefined
  /** Everything after `--`, for the platform's own tool. */
  readonly extra: readonly string[]
  /** An empty folder, which is removed afterwards. */
  readonly folder: string
}

export interface RollbackOptions extends ReleaseOptions {
  /** The platform's id of the deployment. Undefined: the one before. */
  readonly to: string | undefined
}

/** Commands of the platform's tool, in order; the first that fails ends them. */
export interface Release {
  /** Options that the tool's `whoami` needs, too. */
  readonly loginOptions?: readonly string[]
  readonly steps: readonly DeployStep[]
}

export interface Removal extends Release {
  /** What the user types to confirm it. No other place of the project has this name. */
  readonly confirm: string
  /** What is removed, and what stays and may cost, a few words each. */
  readonly goes: readonly string[]
  readonly stays: readonly string[]
}
