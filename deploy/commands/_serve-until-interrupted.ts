/** Serves until the first signal, for `mayfly dev` and `mayfly preview`: with the playground in front, and the screen that says where it is. */
import { setTimeout as pause } from 'node:timers/promises'
import type { SignInFacts } from '../../src/auth/auth.ts'
import type { RunningTarget, StartOptions } from '../contract/target.ts'
import type { PlaygroundFront } from '../playground/front.ts'
import { PREFIX } from '../playground/page.ts'
import { type Cron, callLocally } from '../project/cron.ts'
import { packageManifest } from '../project/mayfly-package.ts'
import { onInterrupt, signalsSent } from '../run/ending.ts'
import { CliError } from '../terminal/cli-error.ts'
import { codeFrame } from '../terminal/code-frame.ts'
import { listed } from '../terminal/listed.ts'
import { quoted } from '../terminal/shell-word.ts'
import { alignColumns, duration, stylesFor } from '../terminal/styles.ts'
import { terminal } from '../terminal/terminal.ts'

/** For a start that a signal interrupts. What it has begun is then ended in order. */
const START_MS = 5000

interface Addresses {
  /** Of the MCP endpoint. */
  readonly endpoint: string
  readonly playground: string | undefined
}

interface Serving {
  readonly start: (
    onChange: Pick<StartOptions, 'onReload' | 'onRefused'>,
  ) => RunningTarget | Promise<RunningTarget>
  /** Listens on the port once the server answers, and serves the playground there. Default: the server itself listens on it. */
  readonly startFront?: (innerPort: number, endpointPath: string) => Promise<PlaygroundFront>
  /** Called once everything is ready. May start something that ends with the server. */
  readonly onReady?: (addresses: Addresses) => { stop(): Promise<void> } | undefined
  /** What the platform's schedules would call. Asked again after each reload. */
  readonly crons?: () => readonly Cron[]
  /** Whether the path of the MCP endpoint was given instead of the platform's default. */
  readonly hasOwnPath?: boolean
  readonly check?: () => Promise<void>
  /** Who signs people in, as `check` has found. */
  readonly signIn?: () => SignInFacts | undefined
  /** Called each time a server with changed code or variables answers. */
  readonly onReload?: () => void
  /** The last line of the screen: what the user may do next. */
  readonly hint: string
}

/**
 * Waits for `check`, prints the ready line, and stops at the first signal or when the reader of its output closes (exit code 0). Throws
 * `CliError` if the server stops by itself.
 */
export async function serveUntilInterrupted(serving: Serving): Promise<number> {
  const { start, check = async () => {} } = serving
  // Registered before anything starts, so that everything is stopped. Later signals are ignored: stopping has a time limit.
  const interrupted = new Promise<number>((resolve) => onInterrupt(() => resolve(0)))
  const beside: Beside = {}
  let running: RunningTarget | undefined
  try {
    const isInterrupted = await Promise.race([interrupted.then(() => true), check().then(() => false)])
    if (isInterrupted) return 0
    const started = start({
      onReload: () => {
        beside.front?.announceReload()
        beside.callSchedules?.()
        serving.onReload?.()
      },
      onRefused: (reasons) => beside.front?.announceRefused(reasons.flatMap(withFrame)),
    })
    // esbuild that was ended by the signal never reports the first build that its watch is waiting for.
    running = await Promise.race([started, interrupted.then(() => pause(START_MS, undefined))])
    if (running === undefined) return 0
  } catch (error) {
    if ((await Promise.race([interrupted, signalsSent()])) === 0) return 0
    throw error
  }
  const over = new AbortController()
  try {
    return await Promise.race([interrupted, serveUntilExit(running, serving, beside, over.signal)])
  } finally {
    over.abort()
    const stopped = running.stop()
    await Promise.all([stopped, beside.front?.close(stopped), beside.tool?.stop()])
  }
}

/** An error, and the line of the source that it names. */
function withFrame(reason: string): string[] {
  const frame = codeFrame(reason)
  return frame === undefined ? [reason] : [reason, frame]
}

/** What is started along with the server, and ends with it. */
interface Beside {
  front?: PlaygroundFront
  tool?: { stop(): Promise<void> } | undefined
  /** Calls what the project says now. */
  callSchedules?: () => void
}

async function serveUntilExit(
  running: RunningTarget,
  serving: Serving,
  beside: Beside,
  over: AbortSignal,
): Promise<number> {
  const { wantsToken } = await running.ready
  const path = running.path ?? '/mcp'
  const front = await serving.startFront?.(running.port, path)
  if (front !== undefined) beside.front = front
  // Interrupted in the meantime: the caller no longer waits.
  if (over.aborted) return front?.close(running.exited).then(() => 0) ?? 0
  const origin = `http://127.0.0.1:${(front ?? running).port}`
  const endpoint = origin + path
  const playground = front && origin + front.path
  const key = front?.key === undefined ? '' : `#token=${front.key}`
  if (process.stdout.isTTY !== true || !terminal.isScreen) process.stdout.write(`ready ${endpoint}\n`)
  const tasks = key && `${origin}${PREFIX}tasks${key}`
  terminal.show(
    readyScreen({ endpoint, wantsToken, playground, tasks, signIn: serving.signIn?.(), hint: serving.hint }),
  )
  beside.tool = serving.onReady?.({ endpoint, playground: playground && playground + key })
  beside.callSchedules = scheduleCalls(origin + baseOf(path, serving.hasOwnPath), serving.crons, over)
  beside.callSchedules()
  throw new CliError(`the server stopped with exit code ${await running.exited}: see its output above`)
}

/** Each call of it takes the schedules as they are now. A package.json that is invalid has been reported: what it said before stays. */
function scheduleCalls(base: string, crons: Serving['crons'], over: AbortSignal): () => void {
  let called = '[]'
  let calls = new AbortController()
  return () => {
    let now: readonly Cron[]
    try {
      now = crons?.() ?? []
    } catch {
      return
    }
    if (JSON.stringify(now) === called) return
    called = JSON.stringify(now)
    calls.abort()
    calls = new AbortController()
    for (const cron of now) void callLocally(base, cron, AbortSignal.any([over, calls.signal]))
  }
}

/** The prefix that the platform adds before the endpoint's path. */
export function baseOf(endpointPath: string, hasOwnPath = false): string {
  return hasOwnPath ? '' : endpointPath.replace(/\/mcp$/, '')
}

interface Ready {
  readonly endpoint: string
  readonly wantsToken: boolean
  readonly playground: string | undefined
  /** The page of the tasks, or empty. */
  readonly tasks: string
  readonly signIn: SignInFacts | undefined
  readonly hint: string
}

/** Not every client can sign in by itself, and not every server offers it. */
const TOKEN_NEEDED = 'clients that do not sign in need one, here in the variable TOKEN'

/** Who says who people are. */
export function signInLine({ provider, isStandIn, unset }: SignInFacts): string {
  if (!isStandIn) return `people sign in with ${provider}`
  const remedy = unset.length === 0 ? `set up ${provider}` : `set ${listed(unset)} in .env to use ${provider}`
  return `a stand-in asks who somebody is, and believes the answer: ${remedy}`
}

function readyScreen({ endpoint, wantsToken, playground, tasks, signIn, hint }: Ready): string {
  const { heading, mainUrl, url, command, dim } = stylesFor(process.stderr)
  const page = endpoint.replace(/mcp$/, '')
  const add = `npx mayfly add ${quoted(endpoint)} --client cursor${wantsToken && signIn === undefined ? ' --bearer-env TOKEN' : ''}`
  // Not wrapped, so that it can be copied.
  const rows = [
    ['URL', mainUrl(endpoint)],
    ['Playground', playground && mainUrl(playground)],
    ['Tasks', tasks && url(tasks)],
    ['Page', url(playground === page ? `${page}?landing` : page)],
    ['Sign-in', signIn && signInLine(signIn)],
    ['Token', wantsToken && signIn === undefined ? TOKEN_NEEDED : ''],
    ['Add it', command(add)],
  ].filter((row): row is [string, string] => Boolean(row[1]))
  return `
  ${heading(`mayfly ${packageManifest().version}`)} ready in ${duration(performance.now())}

${alignColumns(rows, { width: Number.POSITIVE_INFINITY })}

  ${dim(hint)}

`
}
