/** The seam between the commands of `mayfly` and one platform: how it builds, runs here, deploys, and what it needs. */
import type { SizeLimit } from './facts.ts'

/** A user's project, as every command sees it. */
export interface Project {
  /** Where configuration and tools are looked up. */
  readonly cwd: string
  /** Absolute path of the file whose default export is the server. */
  readonly entry: string
  /** From package.json, else the folder: lower case, digits and dashes; what the deployment is called. */
  readonly name: string
}

export interface Target {
  /** As its users call the platform: `AWS Lambda`. */
  readonly title: string
  readonly defaultPort: number
  /** The oldest major version of Node that its tools run on. Default: Mayfly's own. */
  readonly oldestNode?: number
  /** Paths from a project's root that show that it is for this platform; a lockfile counts only if nothing else does. */
  readonly marks?: { readonly files?: readonly string[]; readonly lockfiles?: readonly string[] }
  /** The platform's limits for a call and its response, one line each, for `mayfly doctor`. */
  readonly limits: readonly string[]
  /** `mayfly dev`. Throws a `CliError`, having started nothing, when the tools or the entry cannot work. */
  start(options: StartOptions): Promise<RunningTarget>
  /**
   * `mayfly build`: writes what the platform takes into `outDir`, which exists and is empty. `earlier` is the folder that it will
   * replace, which may hold what the platform's tool has written. Throws `CliError`.
   */
  build(project: Project, outDir: string, earlier?: string): Promise<Artefact>
  /** `mayfly deploy`: runs the build for a moment, to find what the platform may refuse. One line each; never throws. */
  tryOut?(outDir: string, artefact: Artefact, project: Project): Promise<readonly string[]>
  /** `mayfly preview`: how to run on this machine, on the platform's own runtime, what `build` wrote into `outDir`. */
  preview(outDir: string, options: PreviewOptions): Launch
  /** For targets without a platform: the artefact runs on the user's machine. */
  readonly isOwnMachine?: boolean
  /** One process serves all requests and lives long, so that sessions can be kept in it. Default false. */
  readonly hasOneProcess?: boolean
  /** `mayfly deploy`: what to run, once `build` has written `outDir`. Runs nothing itself. */
  deployment(outDir: string, project: Project, options: DeploymentOptions): Deployment
  /** `mayfly deploy --preview`. Default false. */
  readonly hasPreviews?: boolean
  /** `mayfly logs`. Runs nothing itself; throws a `CliError` where there is no such tool, saying where the logs are. */
  logs?(project: Project, extra: readonly string[]): Logs
  /** `mayfly doctor`: what of the platform is missing or wrong. Starts nothing and reaches nothing. */
  examine(project: Project): Promise<Finding[]>
  /** How a new project keeps tasks, and who runs them. Undefined: it cannot, here. */
  readonly tasks?: TaskPlatform
  /** `mayfly init`: the platform's files for a new project, by path from its root. */
  files(project: { readonly name: string; readonly hasTasks?: boolean }): ProjectFiles
}

/** `objects`: Durable Objects. `process`: Postgres, and a process that stays. `cron`: Postgres, and a schedule. `dynamodb`: with a queue. */
export type TaskPlatform = 'objects' | 'process' | 'cron' | 'dynamodb'

export interface StartOptions {
  /** Absolute path of the file whose default export is the server. */
  readonly entry: string
  /** The user's project: where configuration and tools are looked up. */
  readonly cwd: string
  /** A port of 127.0.0.1 that was free a moment ago. */
  readonly port: number
  /** Of the MCP endpoint. Default: the platform's own, which is `/mcp` on most. */
  readonly path?: string | undefined
}

export interface RunningTarget {
  /** Resolves once the server answers MCP; rejects with a `CliError` when it never will. */
  readonly ready: Promise<ServerIdentity>
  /** The exit code, when it ends by itself or after `stop`. */
  readonly exited: Promise<number>
  /** Path of the MCP endpoint. Default `/mcp`. */
  readonly path?: string
  /** Ends every process it started; safe to call twice, and before `ready`. */
  stop(): Promise<void>
}

/** What the server says of itself in `server/discover`. */
export interface ServerIdentity {
  /** Undefined where it tells that only to callers with a token. */
  readonly name: string | undefined
  /** It answers requests without a token with 401. */
  readonly wantsToken: boolean
}

export interface Artefact {
  /** What is uploaded or run, from `outDir`: the script, the zip, the function's folder. */
  readonly main: string
  /** Size of the code alone, in bytes. */
  readonly size: { readonly raw: number; readonly gzip: number }
  /** The platform's limits, in bytes, on the plan that most users start with. Exceeding them is only a warning. */
  readonly limits: readonly SizeLimit[]
}

export interface PreviewOptions {
  readonly port: number
  readonly project: Project
}

/** One process in the foreground, which serves on 127.0.0.1 at the port that was asked for. */
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
  /** For the platform's secret store: what `--secret NAME` names, by name. Never for a file of the artefact. */
  readonly secrets: ReadonlyMap<string, string>
  /** Everything after `--`, for the platform's own tool. */
  readonly extra: readonly string[]
  /** Deploy to a separate URL, beside the one that clients use. Only if the target `hasPreviews`. Default false. */
  readonly isPreview?: boolean
}

export interface Deployment {
  /** The platform's own tool. */
  readonly tool: {
    /** The name of the program and, if there is one, the npm package that contains it. */
    readonly name: string
    readonly npm?: string
    /** The command that installs it, and the one that logs in. */
    readonly install: string
    readonly login: string
    /** Exits with 0 when the user is logged in. */
    readonly whoami: readonly string[]
    /** A variable of the environment that replaces a login, as in CI. */
    readonly token: string
  }
  /** What to know before it runs, one line each. */
  readonly notes?: readonly string[]
  /** In order; the first that fails ends the deployment. */
  readonly steps: readonly DeployStep[]
  /** Where the server is after the deployment. */
  readonly endpoint?: {
    /** Run after the other steps, and not shown, if the last of them does not report the URL (`tells`). */
    readonly step?: DeployStep
    /** The URL of the MCP endpoint in the report; undefined if the report does not contain it. */
    find(told: string): string | undefined
    /** Headers that `--check` needs to get past what the platform puts in front of it. */
    readonly headers?: { readonly [name: string]: string }
  }
}

/** How the platform's own tool shows what the deployed server logs, as it comes. */
export interface Logs {
  readonly tool: Deployment['tool']
  /** Finds what `FOUND` stands for in the arguments of `step`: one word on stdout. */
  readonly lookup?: DeployStep
  readonly step: DeployStep
}

/** Placeholder in the `args` of a step for the result of the look-up before it. */
export const FOUND = '{found}'

export interface DeployStep {
  /** What it is for, in a few words: `upload the function`. */
  readonly title: string
  /** A program other than the deployment's tool. */
  readonly command?: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env?: { readonly [name: string]: string }
  /** Where secrets go: never on a command line, never printed. */
  readonly stdin?: string
  /** For a tool that reads secrets only from a file: one that only its owner can read, removed afterwards; `SECRET_FILE` in `args`. */
  readonly secretFile?: string
  /** How it reports its result: on stdout, which is also shown on stderr, or in a file that this variable names. */
  readonly tells?: 'stdout' | { readonly variable: string }
}

/** Placeholder in a step's `args` for the path of its `secretFile`. */
export const SECRET_FILE = '{secret file}'

export interface Finding {
  readonly level: 'ok' | 'warning' | 'error'
  /** One line: the finding, and for a warning or an error what to do. */
  readonly message: string
}

export interface ProjectFiles {
  readonly files: { readonly [path: string]: string }
  /** For package.json. */
  readonly scripts: { readonly [name: string]: string }
  readonly dependencies: { readonly [name: string]: string }
  readonly devDependencies: { readonly [name: string]: string }
  /** Packages that cannot be installed everywhere; the project works without them. */
  readonly optionalDependencies?: { readonly [name: string]: string }
  /** Of the endpoint on this machine, where it is not `/mcp`. */
  readonly path?: string
  /** For `.gitignore`. */
  readonly ignored: readonly string[]
  /** How a workflow of GitHub's logs in to the platform. */
  readonly ci?: CiLogin
}

export interface CiLogin {
  /** What to set up, as lines of a comment. */
  readonly setUp: readonly string[]
  /** Of GitHub's environment `production`: secrets and variables that become variables of the deployment. */
  readonly secrets?: readonly string[]
  readonly variables?: readonly string[]
  /** Steps before the deployment, as YAML without indentation. Those that exchange GitHub's own token need `hasIdToken`. */
  readonly steps?: string
  readonly hasIdToken?: boolean
}
