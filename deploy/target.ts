/** The seam between `mayfly dev` and a platform's way of running a server on this machine. */

export interface StartOptions {
  /** Absolute path of the file whose default export is the server. */
  entry: string
  /** The user's project: where configuration and tools are looked up. */
  cwd: string
  /** A port of 127.0.0.1 that was free a moment ago. */
  port: number
}

export interface RunningTarget {
  /** Resolves once the server answers MCP; rejects with a `CliError` when it never will. */
  ready: Promise<ServerIdentity>
  /** The exit code, when it ends by itself or after `stop`. */
  exited: Promise<number>
  /** Ends every process it started; safe to call twice, and before `ready`. */
  stop(): Promise<void>
}

/** What the server says of itself in `server/discover`. */
export interface ServerIdentity {
  name: string
}

export interface Target {
  defaultPort: number
  /** Throws a `CliError`, having started nothing, when the tools or the entry cannot work. */
  start(options: StartOptions): Promise<RunningTarget>
}

/** Hosts a server on this machine may be addressed by; its guard refuses all others (DNS rebinding). */
export const DEV_ALLOWED_HOSTS: string = process.env.MAYFLY_ALLOWED_HOSTS ?? 'localhost,127.0.0.1,[::1]'
