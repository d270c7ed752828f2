/** Runs a script with a user's server in a separate process: user code does not run in the CLI. */

import { once } from 'node:events'
import { basename, dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Plugin } from 'esbuild'
import { memberOf } from '../../src/definition/error-text.ts'
import { bundleServer, NODE_BANNER } from '../build/bundle-server.ts'
import { refuseSecrets } from '../build/secret-search.ts'
import { createTempFolder } from '../build/work-folder.ts'
import type { Project } from '../contract/target.ts'
import { displayPath } from '../project/entry.ts'
import { readEnvFiles } from '../project/env-files.ts'
import { unpublishable } from '../project/secrets.ts'
import { deploymentFiles, localFiles } from '../project/variable-files.ts'
import { startProcessGroup } from '../run/process-group.ts'
import { CliError, printable } from '../terminal/cli-error.ts'

const TIMEOUT_MS = 15_000

export interface Loading {
  /** A file that gets the bundle and `args` as its arguments, and prints its result as the last line, in JSON. */
  readonly script: string
  /** The module that is bundled; it imports the server from `mayfly:entry`. */
  readonly main: string
  readonly args?: readonly string[]
  /** Whether it gets the variables of the deployed server, of production or the project's stage. Default: those of a server on this machine. */
  readonly isDeployed?: boolean
  /** In addition, and before others. */
  readonly variables?: { readonly [name: string]: string } | undefined
  /** Default 15 000. */
  readonly timeoutMs?: number
  /** Stops waiting when it aborts. */
  readonly signal?: AbortSignal | undefined
}

export interface Loaded<Result> {
  readonly told: Result
  /** Modules of workerd were replaced: the server may work differently there. */
  readonly isGuessed: boolean
}

export class TooSlow extends CliError {
  constructor(entry: string, timeoutMs: number) {
    super(
      `${displayPath(entry)} does not load within ${timeoutMs / 1000} seconds: look for an endless loop or a pending await at the top level`,
    )
  }
}

/** What other platforms have and Node, or an older Node, does not. */
const PLATFORM_GLOBALS =
  /^ReferenceError: (?:Deno|Bun|Netlify|EdgeRuntime|Supabase|caches|HTMLRewriter|WebSocket|WebSocketPair|awslambda|navigator) is not defined/

/** A server that throws while it loads, or whose default export is not a server. */
export class LoadFailure extends CliError {
  /** Whether it may load on its own platform. */
  readonly isGuess: boolean
  /** Whether it loads, and exports something else. */
  readonly isNoServer: boolean

  constructor(entry: string, reason: string, isGuessed: boolean) {
    const [, own] =
      /^TypeError: (the default export of .* has no fetch function.*|.* has no default export: .*)$/.exec(
        reason,
      ) ?? []
    super(printable(own ?? `${displayPath(entry)} cannot be loaded on Node: ${reason}`))
    this.isNoServer = own !== undefined
    this.isGuess = isGuessed || PLATFORM_GLOBALS.test(reason)
  }
}

/** Replaces workerd's own modules with a stand-in: a server may use its bindings while it loads, and serves nothing here. */
function workerdModules(onUse: () => void): Plugin {
  return {
    name: 'mayfly-workerd-modules',
    setup(build) {
      build.onResolve({ filter: /^cloudflare:/ }, ({ path }) => {
        onUse()
        return { path, namespace: 'mayfly-workerd' }
      })
      build.onLoad({ filter: /./, namespace: 'mayfly-workerd' }, () => ({ contents: ANYTHING, loader: 'js' }))
    },
  }
}

/** A stand-in is of no option's kind. */
const UNCHECKED: Plugin = {
  name: 'mayfly-unchecked',
  setup(build) {
    build.onLoad({ filter: /[\\/]definition[\\/]option-kind\.[jt]s$/ }, ({ path, suffix }) =>
      suffix === CHECKED
        ? undefined
        : {
            // What is exported here comes before the rest of the module.
            contents: `export * from './${basename(path)}${CHECKED}'\nexport const mismatch = () => undefined`,
            resolveDir: dirname(path),
            loader: 'js',
          },
    )
  },
}

/** After the path of the module that checks. */
const CHECKED = '?checked'

/** A value that can be called, constructed and extended, and whose members are the same value. */
const ANYTHING = `
const anything = new Proxy(class {}, {
  get: (target, name) => (name in target || name === 'then' || typeof name === 'symbol' ? target[name] : anything),
  apply: () => anything,
})
// esbuild copies the members of a module, but inherits what it inherits.
module.exports = Object.create(anything)
// A variable of the project is read as it is set, as process.env has it.
module.exports.env = new Proxy({}, {
  get: (_target, name) => (typeof name === 'string' ? (process.env[name] ?? anything) : undefined),
  has: () => true,
})
`

/** Throws `CliError` if it does not build, does not load on Node in time, or does not export a server. */
export async function runLoaded<Result extends object>(
  project: Project,
  loading: Loading,
): Promise<Loaded<Result>> {
  const { folder, dispose } = createTempFolder()
  const outfile = join(folder, 'server.mjs')
  let isGuessed = false
  try {
    const bundle = (...plugins: Plugin[]) =>
      bundleServer(project, {
        main: loading.main,
        outfile,
        platform: 'node',
        banner: NODE_BANNER,
        plugins,
        sourceMap: 'inline',
      })
    const standIn = workerdModules(() => {
      isGuessed = true
    })
    await bundle(standIn)
    if (isGuessed) await bundle(standIn, UNCHECKED)
    refuseSecrets(folder, unpublishable(project))
    const { stdout, stderr, isLate } = await run(outfile, project, loading)
    const told = parse(stdout.trim().split('\n').at(-1) ?? '')
    const thrown = memberOf(told, 'loadError')
    if (told !== undefined && thrown === undefined) return { told: told as Result, isGuessed }
    if (isLate) throw new TooSlow(project.entry, loading.timeoutMs ?? TIMEOUT_MS)
    const reason = /^\w*(?:Error|TypeError): .+$/m.exec(stderr)?.[0] ?? 'it ended the process'
    throw new LoadFailure(project.entry, typeof thrown === 'string' ? thrown : reason, isGuessed)
  } finally {
    dispose()
  }
}

/** Resolves with its output after it and the processes it started have ended. */
async function run(
  file: string,
  project: Project,
  { script, args = [], timeoutMs = TIMEOUT_MS, isDeployed = false, variables, signal }: Loading,
): Promise<{ stdout: string; stderr: string; isLate: boolean }> {
  const files = isDeployed ? deploymentFiles(project.stage) : localFiles(project.stage)
  const { child, exited, kill } = startProcessGroup(['--enable-source-maps', script, file, ...args], {
    cwd: project.cwd,
    env: { ...process.env, ...readEnvFiles(project, files).variables, ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const printed = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      printed[name] += text
    })
  const closed = once(child, 'close')
  const timeout = new AbortController()
  const stop = (): void => timeout.abort()
  signal?.addEventListener('abort', stop)
  if (signal?.aborted) stop()
  const isLate = await Promise.race([
    exited.then(() => false),
    delay(timeoutMs, true, { signal: timeout.signal }).catch(() => false),
  ])
  stop()
  signal?.removeEventListener('abort', stop)
  // A server may delay its exit after a signal.
  await kill()
  await closed
  return { ...printed, isLate }
}

/** Undefined if the last line was printed by the server itself. */
function parse(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
