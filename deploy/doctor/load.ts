/** Loads a server in a separate process and reads its description: user code does not run in the CLI. */

import { once } from 'node:events'
import { basename, dirname, extname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Plugin } from 'esbuild'
import { isA } from '../../src/definition/error-text.ts'
import { bundleServer, NODE_BANNER } from '../build/bundle-server.ts'
import { refuseSecrets } from '../build/secret-search.ts'
import { createTempFolder } from '../build/work-folder.ts'
import type { Project } from '../contract/target.ts'
import { displayPath } from '../project/entry.ts'
import { readEnvFiles } from '../project/env-files.ts'
import { unpublishable } from '../project/secrets.ts'
import { startProcessGroup } from '../run/process-group.ts'
import { CliError, printable } from '../terminal/cli-error.ts'
import { terminal } from '../terminal/terminal.ts'
import type { Description } from './describe.ts'

/** `.ts` from source, `.js` from dist/. */
const DESCRIBE = fileURLToPath(new URL(`./describe${extname(import.meta.url)}`, import.meta.url))
const TIMEOUT_MS = 15_000

const MAIN = `export { default } from 'mayfly:entry'\n`

/**
 * Refuses a server that cannot answer any request: throws a `CliError` that names the tool, resource or prompt and its error. A server that
 * does not load on Node may still work on its platform. Stops waiting when `signal` aborts.
 */
export async function refuseFaulty(project: Project, signal?: AbortSignal): Promise<void> {
  const { fault } = await describeServer(project, signal).catch((error): Partial<Description> => {
    if (!isA(error, CliError)) throw error
    if (isA(error, TooSlow)) terminal.warn(error.message)
    return {}
  })
  if (fault !== undefined) throw faultOf(project, fault)
}

export function faultOf({ entry }: Pick<Project, 'entry'>, fault: string): CliError {
  return new CliError(`${displayPath(entry)}: ${printable(fault)}`)
}

class TooSlow extends CliError {
  constructor(entry: string) {
    super(
      `${displayPath(entry)} does not load within ${TIMEOUT_MS / 1000} seconds: look for an endless loop or a pending await at the top level`,
    )
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
`

/** Throws `CliError` if it does not build, does not load on Node within 15 seconds, or does not export a server. */
export async function describeServer(project: Project, signal?: AbortSignal): Promise<Description> {
  const { folder, dispose } = createTempFolder()
  const outfile = join(folder, 'server.mjs')
  let isGuessed = false
  try {
    const bundle = (...plugins: Plugin[]) =>
      bundleServer(project, { main: MAIN, outfile, platform: 'node', banner: NODE_BANNER, plugins })
    const standIn = workerdModules(() => {
      isGuessed = true
    })
    await bundle(standIn)
    if (isGuessed) await bundle(standIn, UNCHECKED)
    refuseSecrets(folder, unpublishable(project))
    const { stdout, stderr, isLate } = await run(outfile, project, signal)
    const description = parse(stdout.trim().split('\n').at(-1) ?? '')
    // A tool whose description comes from a binding may be valid.
    if (description !== undefined) return isGuessed ? { ...description, fault: undefined } : description
    if (isLate) throw new TooSlow(project.entry)
    const reason = /^\w*(?:Error|TypeError): .+$/m.exec(stderr)?.[0] ?? 'it exited'
    throw new CliError(`${displayPath(project.entry)} cannot be loaded on Node: ${reason}`)
  } finally {
    dispose()
  }
}

/** Resolves with its output after it and the processes it started have ended. */
async function run(
  file: string,
  project: Project,
  signal: AbortSignal | undefined,
): Promise<{ stdout: string; stderr: string; isLate: boolean }> {
  const { child, exited, kill } = startProcessGroup([DESCRIBE, file], {
    cwd: project.cwd,
    env: { ...process.env, ...readEnvFiles(project).variables },
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
    delay(TIMEOUT_MS, true, { signal: timeout.signal }).catch(() => false),
  ])
  stop()
  signal?.removeEventListener('abort', stop)
  // A server may delay its exit after a signal.
  await kill()
  await closed
  return { ...printed, isLate }
}

/** Undefined if the last line was printed by the server itself. */
function parse(line: string): Description | undefined {
  try {
    return JSON.parse(line) as Description
  } catch {
    return undefined
  }
}
