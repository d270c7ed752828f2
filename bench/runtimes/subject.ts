/** What is served on which runtime: a file of this benchmark, and the expression in it that serves. */

export const RUNTIMES = ['workerd', 'Node', 'deno', 'bun', 'lambda', 'edge-runtime'] as const

/** `lambda` is AWS's own runtime interface client on Node, `edge-runtime` the package that Vercel publishes. */
export type Runtime = (typeof RUNTIMES)[number]

/**
 * The expressions see `exports` (what the module exports), `tools` (the tools to serve), `list` (the result of their `tools/list`, as
 * JSON), `keys` (of the issuer of tokens, as a JSON Web Key Set) and `port`.
 */
export type Serving = Expressed | Compiled

/** By an expression in a file. */
export type Expressed = {
  /** Relative to `bench/`. */
  readonly module: string
  readonly expression: string
} & (
  | {
      /** A fetch handler: each runtime serves it with what it has itself. */
      readonly kind: 'fetch'
      /** As for `server`. */
      readonly handler?: 'handler' | 'streamingHandler'
    }
  | {
      /** An `MCPServer` of ours: served by our adapters, as its users do. */
      readonly kind: 'server'
      /** On Lambda: what `mayfly build` deploys behind a Function URL streams. Default `streamingHandler`. */
      readonly handler?: 'handler' | 'streamingHandler'
    }
  | {
      /** Something that listens on `port` by itself. */
      readonly kind: 'listener'
    }
  | {
      /** A handler of Lambda's events. */
      readonly kind: 'lambda'
    }
)

/** By a project that the framework's own compiler turns into a program for Node. */
export interface Compiled {
  readonly kind: 'xmcp'
}

/** What the expressions are given. */
export interface Fixture {
  readonly toolCount: number
  /** Of the input of each tool. */
  readonly fieldCount: number
}

/** Tells files of one runtime apart. */
export function fileNameOf(runtime: Runtime, name: string, { toolCount, fieldCount }: Fixture): string {
  return `${runtime}-${name.replaceAll(/\W+/g, '-')}-${toolCount}x${fieldCount}`
}
