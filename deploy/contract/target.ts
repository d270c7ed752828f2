/** The interface between the `mayfly` commands and a platform: how it builds, runs locally, deploys, and what it needs. */
import type { Abilities, TaskPlatform } from './abilities.ts'
import type { SizeLimit } from './facts.ts'
import type { Place, PlaceOptions } from './place.ts'
import type { Release, ReleaseOptions, Removal, RollbackOptions } from './release.ts'
import type { SecretStore, SecretStoreOptions } from './secret-store.ts'
import type { DeployStep } from './step.ts'

export type { GrantPlatform, TaskPlatform } from './abilities.ts'
export { type DeployStep, SECRET_FILE } from './step.ts'

/** A user's project. */
export interface Project {
  /** Where configuration and tools are looked up. */
  readonly cwd: string
  /** Absolute path of the file whose default export is the server. */
  readonly entry: string
  /** From package.json, otherwise from the folder: lower case, digits and dashes. The name of the deployment. */
  readonly name: string
  /** What the command works on. Undefined: production, or what a server on this machine has without a stage. */
  readonly stage?: string | undefined
}

export interface Target {
  /** The platform's name for people: `AWS Lambda`. */
  readonly title: string
  /** What it can do besides answering. */
  readonly abilities: Abilities
  readonly defaultPort: number
  /** The oldest major version of Node that its tools support. Default: that of Mayfly. */
  readonly oldestNode?: number
  /** Relative paths that identify a project for this platform. A lockfile counts only if nothing else matches. */
  readonly marks?: { readonly files?: readonly string[]; readonly lockfiles?: readonly string[] }
  /** The platform's limits for a call and its response, one per line, for `mayfly doctor`. */
  readonly limits: readonly string[]
  /** `mayfly dev`. Throws a `CliError`, without starting anything, if the tools or the entry cannot work. */
  start(options: StartOptions): Promise<RunningTarget>
  /**
   * `mayfly build`: writes what the platform deploys into `outDir`, which exists and is empty. `earlier` is the folder that it will
   * replace, which may contain files of the platform's tool. Throws `CliError`.
   */
  build(project: Project, outDir: string, earlier?: string): Promise<Artefact>
  /** `mayfly deploy`: runs the build briefly, to find what the platform may refuse. One line per finding; never throws. */
  tryOut?(outDir: string, artefact: Artefact, project: Project): Promise<readonly string[]>
  /** `mayfly preview`: how to run the build in `outDir` locally on the platform's own runtime. */
  preview(outDir: string, options: PreviewOptions): Launch
  /** For targets without a platform: the build runs on the user's machine. */
  readonly isOwnMachine?: boolean
  /** Whether its configuration sets variables of the server that Mayfly does not read. Default false. */
  readonly hasOwnVariables?: boolean
  /** Whether one long-lived process serves all requests, so that it can hold sessions. Default false. */
  readonly hasOneProcess?: boolean
  /** Whether the server is not told that a client closed its response. Default false. */
  readonly cannotTellThatClientsLeft?: boolean
  /** The end of its own host names, such as `.example.com`, where it sends pages as plain text. Default: none. */
  readonly textDomain?: string
  /**
   * Which place of the platform a deployment changes, as far as options, files and variables tell. Runs nothing. Throws `CliError` if it
   * cannot be told, `UsageError` if options contradict each other. Undefined for targets without a platform.
   */
  place?(project: Project, options: PlaceOptions): Place
  /** `mayfly deploy`: the commands to run after `build` wrote `outDir`. Runs nothing itself. */
  deployment(outDir: string, project: Project, options: DeploymentOptions): Deployment
  /**
   * `mayfly secrets`: the secrets of the place that `place` tells. Runs nothing itself. Throws `CliError` if the place cannot be told.
   * Undefined for targets without a platform.
   */
  secretStore?(
    project: Project,
    options: SecretStoreOptions,
  ): SecretStore & { readonly tool: Deployment['tool'] }
  /**
   * `mayfly rollback`: how an earlier deployment is served again. Runs nothing itself. Throws `CliError` if the deployment must be named.
   * Undefined if the platform cannot.
   */
  rollback?(project: Project, options: RollbackOptions): Release & { readonly tool: Deployment['tool'] }
  /** `mayfly destroy`: how a stage is removed. Runs nothing itself. Throws `CliError` if the platform's tool cannot. */
  removal?(project: Project, options: ReleaseOptions): Removal & { readonly tool: Deployment['tool'] }
  /** `mayfly deploy --preview`. Default false. */
  readonly hasPreviews?: boolean
  /** `mayfly logs` of production, or of the project's stage. Runs nothing itself. If the platform has no such tool, throws a `CliError` that says where the logs are. */
  logs?(project: Project, extra: readonly string[]): Logs
  /** `mayfly doctor`: what is missing or wrong for this platform. Does not start processes or use the network. */
  examine(project: Project): Promise<Finding[]>
  /** `mayfly doctor`: the schedules of the platform's own configuration, which call `scheduled` of the default export. Undefined if it has none such. */
  triggers?(project: Project): readonly string[]
  /** How a new project stores and runs tasks. Undefined if the platform cannot. */
  readonly tasks?: TaskPlatform
  /** `mayfly init`: throws `UsageError` for a name that a deployment refuses. `remedy` is what to do about it. Default: all are taken. */
  refuseName?(name: string, remedy: string): void
  /** `mayfly init`: the platform's files for a new project, by path from its root. */
  files(project: NewProject): ProjectFiles
}

export interface StartOptions {
  /** Absolute path of the file whose default export is the server. */
  readonly entry: string
  /** The user's project: where configuration and tools are looked up. */
  readonly cwd: string
  /** Undefined: without one. */
  readonly stage?: string | undefined
  /** A port of 127.0.0.1 that was free a moment ago; 0: any free one. */
  readonly port: number
  /** Path of the MCP endpoint. Default: the platform's, usually `/mcp`. */
  readonly path?: string | undefined
  /** How many tools the server has now, for the line about a change. Undefined if that is unknown. */
  readonly tools?: number | undefined
  /** Called each time a server with changed code answers in place of the last one. */
  readonly onReload?: (() => void) | undefined
  /** Called when a change does not build or load, with why, so that the server from before it goes on. */
  readonly onRefused?: ((reasons: readonly string[]) => void) | undefined
  /** Called with each error that the server logs. */
  readonly onServerError?: ((error: ServerError) => void) | undefined
}

/** An error that a server logged. */
export interface ServerError {
  /** ISO 8601. */
  readonly time: string
  /** The tool or the JSON-RPC method, or empty. */
  readonly what: string
  readonly message: string
  readonly requestId?: string
  /** The message of the error's cause. */
  readonly cause?: string
  /** `src/server.ts:3:5`: the innermost call in one of the user's files. */
  readonly place?: string
  /** The line at `place`, with a caret below it. */
  readonly frame?: string
  /** The user's calls and those of libraries, the innermost first: `pay (src/server.ts:3:5)`. */
  readonly calls: readonly string[]
}

export interface RunningTarget {
  /** The port of 127.0.0.1 where it listens. */
  readonly port: number
  /** Resolves once the server answers MCP; rejects with a `CliError` if it cannot. */
  readonly ready: Promise<ServerIdentity>
  /** The exit code, after it ends by itself or by `stop`. */
  readonly exited: Promise<number>
  /** Path of the MCP endpoint. Default `/mcp`. */
  readonly path?: string
  /** Ends every process it started. Safe to call twice, and before `ready`. */
  stop(): Promise<void>
}

/** What the server's answer to `server/discover` tells. */
export interface ServerIdentity {
  /** Whether it answers requests without a token with 401. */
  readonly wantsToken: boolean
}

export interface Artefact {
  /** What is uploaded or run, from `outDir`: the script, the zip, the function's folder. */
  readonly main: string
  /** Size of the code alone, in bytes. */
  readonly size: { readonly raw: number; readonly gzip: number }
  /** The platform's limits, in bytes, on the plan that most users start with. Exceeding them only warns. */
  readonly limits: readonly SizeLimit[]
}

export interface PreviewOptions {
  readonly port: number
  readonly project: Project
}

/** A foreground process that listens on 127.0.0.1 on the requested port. */
export interface Launch {
  /** A program, or a file for Node when it ends in `.js`, `.cjs`, `.mjs` or `.ts`. */
  readonly command: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env?: { readonly [name: string]: string }
  /** Path of the MCP endpoint. Default `/mcp`. */
  readonly path?: string
  /** One line for the user: how this differs from the platform. */
  readonly note?: string
}

export interface DeploymentOptions {
  /** Values of `--secret NAME` for the platform's secret store, by name. Never written to a file of the build. */
  readonly secrets: ReadonlyMap<string, string>
  /** Everything after `--`, for the platform's own tool. */
  readonly extra: readonly string[]
  /** Deploy to a separate URL and leave production unchanged. Only if the target `hasPreviews`. Default false. */
  readonly isPreview?: boolean
  /** Deploy this stage, to its own place, with `MAYFLY_STAGE` set. Undefined: production. */
  readonly stage?: string | undefined
}

export interface Deployment {
  /** The platform's own tool. */
  readonly tool: {
    /** The name of the program and, if it has one, its npm package. */
    readonly name: string
    readonly npm?: string
    /** The command that installs it, and the one that logs in. */
    readonly install: string
    readonly login: string
    /** Exits with 0 when the user is logged in. */
    readonly whoami: readonly string[]
    /** An environment variable that replaces a login, as in CI. */
    readonly token: string
  }
  /** Notes to print before it runs, one line each. */
  readonly notes?: readonly string[]
  /** In order; the first that fails ends the deployment. */
  readonly steps: readonly DeployStep[]
  /** How to find the server's URL after the deployment. */
  readonly endpoint?: {
    /** Run after the other steps, without showing its output, if the last one does not report the URL (`tells`). */
    readonly step?: DeployStep
    /** The URL of the MCP endpoint in the report; undefined if the report does not contain it. */
    find(told: string): string | undefined
    /** Headers that `--check` needs to pass the platform's own access protection. */
    readonly headers?: { readonly [name: string]: string }
  }
}

/** How the platform's own CLI streams the deployed server's logs. */
export interface Logs {
  readonly tool: Deployment['tool']
  /** Finds the value of `FOUND` in the arguments and variables of `step`: one word on stdout. */
  readonly lookup?: DeployStep
  /** Reads it in what `lookup` printed. Default: all of it. */
  read?(told: string): string | undefined
  /** One line, if it finds nothing. */
  readonly nothing?: string
  readonly step: DeployStep
}

/** Placeholder in a step's `args` and `env` for the result of the look-up before it. */
export const FOUND = '{found}'

export interface Finding {
  readonly level: 'ok' | 'warning' | 'error'
  /** One line: the finding and, for a warning or an error, what to do. */
  readonly message: string
}

/** What `mayfly init` was asked for. */
export interface NewProject {
  readonly name: string
  readonly hasTasks?: boolean
  /** Whether clients subscribe to events, so that subscriptions and events are stored. */
  readonly hasEvents?: boolean
  /** Whether people sign in, so that their connections are stored. */
  readonly hasGrants?: boolean
}

export interface ProjectFiles {
  readonly files: { readonly [path: string]: string }
  /** For package.json. */
  readonly scripts: { readonly [name: string]: string }
  readonly dependencies: { readonly [name: string]: string }
  readonly devDependencies: { readonly [name: string]: string }
  /** Optional packages, which cannot be installed on every machine. */
  /** Path of the local endpoint, if it is not `/mcp`. */
  readonly path?: string
  /** For `.gitignore`. */
  readonly ignored: readonly string[]
  /** How a GitHub workflow logs in to the platform. */
  readonly ci?: CiLogin
}

export interface CiLogin {
  /** What to set up, as lines of a comment. */
  readonly setUp: readonly string[]
  /** Secrets and variables of the GitHub environment `production` that become variables of the deployment. */
  readonly secrets?: readonly string[]
  readonly variables?: readonly string[]
  /** Which variables a preview of a pull request can read, as the end of a sentence. Undefined: production's, so there is no workflow for previews. */
  readonly previewReads?: string
  /** For the platform's own tool, after `--`, as words of a shell. */
  readonly toolOptions?: string
  /** Steps before the deployment, as YAML without indentation. Steps that exchange GitHub's own token need `hasIdToken`. */
  readonly steps?: string
  readonly hasIdToken?: boolean
}
