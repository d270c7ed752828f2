/** The seam between the commands of `mayfly` and one platform: how it builds, runs here, deploys, and what it needs. */

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
  /** What a call may take and send there, a line each, for `mayfly doctor`. */
  readonly limits: readonly string[]
  /** `mayfly dev`. Throws a `CliError`, having started nothing, when the tools or the entry cannot work. */
  start(options: StartOptions): Promise<RunningTarget>
  /** `mayfly build`: writes what the platform takes into `outDir`, which exists and is empty. Throws `CliError`. */
  build(project: Project, outDir: string): Promise<Artefact>
  /** `mayfly preview`: how to run on this machine, on the platform's own runtime, what `build` wrote into `outDir`. */
  preview(outDir: string, options: PreviewOptions): Launch
  /** `mayfly deploy`: what to run, once `build` has written `outDir`. Runs nothing itself. */
  deployment(outDir: string, project: Project, options: DeploymentOptions): Deployment
  /** `mayfly doctor`: what of the platform is missing or wrong. Starts nothing and reaches nothing. */
  examine(project: Project): Promise<Finding[]>
  /** `mayfly init`: the platform's files in a new project, by path from its root. */
  files(project: { readonly name: string }): ProjectFiles
}

export interface StartOptions {
  /** Absolute path of the file whose default export is the server. */
  readonly entry: string
  /** The user's project: where configuration and tools are looked up. */
  readonly cwd: string
  /** A port of 127.0.0.1 that was free a moment ago. */
  readonly port: number
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
  readonly name: string
}

export interface Artefact {
  /** What is uploaded or run, from `outDir`: the script, the zip, the function's folder. */
  readonly main: string
  /** Of the code alone, in bytes. */
  readonly size: { readonly raw: number; readonly gzip: number }
  /** The platform's own limits, in bytes; of the plan that most begin with. */
  readonly limits: readonly { readonly name: string; readonly of: 'raw' | 'gzip'; readonly bytes: number }[]
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
}

export interface DeploymentOptions {
  /** For the platform's secret store: what `--secret NAME` names, by name. Never for a file of the artefact. */
  readonly secrets: ReadonlyMap<string, string>
  /** Everything after `--`, for the platform's own tool. */
  readonly extra: readonly string[]
}

export interface Deployment {
  /** The platform's own tool. */
  readonly tool: {
    /** Its name as a program and, where there is one, the npm package that brings it. */
    readonly name: string
    readonly npm?: string
    /** The command that installs it, and the one that logs in. */
    readonly install: string
    readonly login: string
    /** Exits with 0 when somebody is logged in. */
    readonly whoami: readonly string[]
    /** A variable of the environment that stands for a login, as in CI. */
    readonly token: string
  }
  /** In order; the first that fails ends the deployment. */
  readonly steps: readonly DeployStep[]
}

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
  /** For a tool that takes them from nothing but a file: one that only its owner can read, gone afterwards; `SECRET_FILE` in `args`. */
  readonly secretFile?: string
}

/** Stands in a step's `args` for the path of its `secretFile`. */
export const SECRET_FILE = '{secret file}'

export interface Finding {
  readonly level: 'ok' | 'warning' | 'error'
  /** One line: what is so, and for a warning or an error what to do. */
  readonly message: string
}

export interface ProjectFiles {
  readonly files: { readonly [path: string]: string }
  /** For package.json. */
  readonly scripts: { readonly [name: string]: string }
  readonly dependencies: { readonly [name: string]: string }
  readonly devDependencies: { readonly [name: string]: string }
  /** For `.gitignore`. */
  readonly ignored: readonly string[]
}

/** Hosts a server on this machine may be addressed by; its guard refuses all others (DNS rebinding). */
export const DEV_ALLOWED_HOSTS: string = process.env.MAYFLY_ALLOWED_HOSTS ?? 'localhost,127.0.0.1,[::1]'
