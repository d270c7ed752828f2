/**
 * Facts about the platforms: their limits, the source, and when it was read. Build limits, `mayfly doctor`, the tests of the adapters'
 * numbers and docs/deploy/facts.md use these. Platforms change, so exceeding a limit only warns.
 */

export interface Fact<Value extends number | string = number | string> {
  readonly value: Value
  readonly unit: 'ms' | 'bytes' | 'executions' | 'date'
  /** What is limited, in the platform's terms. */
  readonly says: string
  readonly source: `https://${string}`
  /** When the source was last read. */
  readonly checked: `${number}-${number}-${number}`
  /** May change without notice. */
  readonly isBeta?: true
}

/** The artefact's limit, as in `Artefact.limits`. */
export interface SizeLimit {
  readonly name: string
  readonly of: 'raw' | 'gzip'
  readonly bytes: number
  readonly source: string
  readonly checked: string
}

const MB = 1_000_000
const MIB = 1024 * 1024
const MINUTE_MS = 60_000

const CLOUDFLARE = 'https://developers.cloudflare.com/workers/platform/limits/'
const SUPABASE = 'https://supabase.com/docs/guides/functions/limits'
const VERCEL = 'https://vercel.com/docs/functions/limitations'
const VERCEL_DURATION = 'https://vercel.com/docs/functions/configuring-functions/duration'
/** This page also says that Edge Functions are deprecated. */
const VERCEL_EDGE = 'https://vercel.com/docs/functions/runtimes/edge/edge-functions'
const LAMBDA = 'https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html'
const LAMBDA_STREAMS = 'https://docs.aws.amazon.com/lambda/latest/dg/configuration-response-streaming.html'
const NETLIFY = 'https://docs.netlify.com/build/functions/'
const NETLIFY_EDGE = 'https://docs.netlify.com/build/edge-functions/limits'
const CLOUD_RUN = 'https://cloud.google.com/run/docs/configuring/request-timeout'

type Row<Value> = readonly [value: Value, says: string, source: Fact['source'], checked: Fact['checked']]

const of = <Value extends number | string>(
  unit: Fact['unit'],
  [value, says, source, checked]: Row<Value>,
  isBeta?: 'beta',
): Fact<Value> => ({
  value,
  unit,
  says,
  source,
  checked,
  ...(isBeta !== undefined && { isBeta: true }),
})
const ms = (...row: Row<number>): Fact<number> => of('ms', row)
const bytes = (...row: Row<number>): Fact<number> => of('bytes', row)

/** By platform, then by name. */
export const FACTS = {
  cloudflare: {
    workerBytes: bytes(
      64 * MIB,
      'Worker size, uncompressed, on every plan',
      `${CLOUDFLARE}#worker-size`,
      '2026-11-22',
    ),
    workerBytesSince: of('date', [
      '2026-09-04',
      'gzipped size no longer limited (3 MB Free, 10 MB Paid before)',
      `${CLOUDFLARE}#worker-size`,
      '2026-11-01',
    ]),
    freeCpuMs: ms(10, 'CPU time of a call, Free plan', `${CLOUDFLARE}#cpu-time`, '2026-11-22'),
    paidCpuMs: ms(
      30_000,
      'CPU time of a call, Paid plan, unless limits.cpu_ms says more',
      `${CLOUDFLARE}#cpu-time`,
      '2026-11-22',
    ),
    paidCpuMaxMs: ms(
      5 * MINUTE_MS,
      'CPU time of a call, Paid plan, at most',
      `${CLOUDFLARE}#cpu-time`,
      '2026-11-22',
    ),
    waitUntilMs: ms(30_000, 'waitUntil after the response', `${CLOUDFLARE}#duration`, '2026-11-22'),
    startupMs: ms(1000, 'start-up of a Worker', `${CLOUDFLARE}#worker-startup-time`, '2026-11-22'),
    nodejsCompatFrom: of('date', [
      '2026-08-04',
      'compatibility date from which nodejs_compat is on, and an error as a flag',
      'https://github.com/cloudflare/workerd/blob/main/src/workerd/io/compatibility-date.capnp',
      '2026-11-22',
    ]),
  },
  supabase: {
    callMs: ms(150_000, 'a worker, Free plan', SUPABASE, '2026-11-22'),
    paidCallMs: ms(400_000, 'a worker, paid plans', SUPABASE, '2026-11-22'),
    cpuMs: ms(2000, 'CPU time of a request', SUPABASE, '2026-11-22'),
    functionBytes: bytes(20 * MB, 'function size', SUPABASE, '2026-11-22'),
  },
  vercel: {
    callMs: ms(300_000, 'a call, by default and at most on Hobby', VERCEL_DURATION, '2026-11-22'),
    proCallMs: ms(800_000, 'a call at most, Pro and Enterprise', VERCEL_DURATION, '2026-11-22'),
    betaCallMs: of(
      'ms',
      [1_800_000, 'a call at most, Pro and Enterprise, on Fluid compute', VERCEL_DURATION, '2026-11-22'],
      'beta',
    ),
    functionBytes: bytes(250 * MB, 'function size, unzipped', VERCEL, '2026-11-22'),
    fluidFunctionBytes: of(
      'bytes',
      [
        5000 * MB,
        'function size, unzipped, on Fluid compute',
        `${VERCEL}#large-functions-beta`,
        '2026-11-22',
      ],
      'beta',
    ),
    requestBytes: bytes(4.5 * MB, 'a request', VERCEL, '2026-11-01'),
    edgeFirstByteMs: ms(25_000, 'first byte of an Edge Function', VERCEL_EDGE, '2026-11-22'),
    edgeCallMs: ms(300_000, 'a call of an Edge Function', VERCEL, '2026-11-01'),
    edgeHobbyBytes: bytes(1 * MB, 'Edge Function size, gzipped, Hobby plan', VERCEL, '2026-11-01'),
    edgeProBytes: bytes(2 * MB, 'Edge Function size, gzipped, Pro plan', VERCEL, '2026-11-01'),
  },
  lambda: {
    callMs: ms(15 * MINUTE_MS, 'a call at most', LAMBDA, '2026-11-01'),
    unzippedBytes: bytes(250 * MIB, 'package size, unzipped', LAMBDA, '2026-11-01'),
    resultBytes: bytes(6_291_556, 'a buffered response with its envelope', LAMBDA, '2026-11-01'),
    streamedBytes: bytes(200 * MB, 'a streamed response', LAMBDA_STREAMS, '2026-11-22'),
    variablesBytes: bytes(4000, 'environment variables, with their names', LAMBDA, '2026-11-01'),
    unreservedExecutions: of('executions', [
      100,
      'must stay unreserved in an account, or MaxConcurrency is refused',
      'https://docs.aws.amazon.com/lambda/latest/dg/configuration-concurrency.html',
      '2026-11-22',
    ]),
    cliV1MaintenanceFrom: of('date', [
      '2026-08-05',
      'AWS CLI version 1, which pip installs, in maintenance',
      'https://aws.amazon.com/blogs/developer/cli-v1-maintenance-mode-announcement',
      '2026-11-22',
    ]),
  },
  netlify: {
    callMs: ms(60_000, 'a call of a Function', `${NETLIFY}configuration`, '2026-11-22'),
    bufferedBytes: bytes(
      6 * MB,
      'a buffered response of a Function',
      `${NETLIFY}configuration`,
      '2026-11-22',
    ),
    streamedBytes: bytes(
      20 * MB,
      'a streamed response of a Function',
      `${NETLIFY}configuration`,
      '2026-11-22',
    ),
    functionBytes: bytes(50 * MB, 'Function size, zipped', `${NETLIFY}overview`, '2026-11-01'),
    edgeFirstByteMs: ms(40_000, 'first byte of an Edge Function', NETLIFY_EDGE, '2026-11-22'),
    edgeCpuMs: ms(50, 'CPU time of an Edge Function', NETLIFY_EDGE, '2026-11-22'),
    edgeFunctionBytes: bytes(20 * MB, 'Edge Function size, compressed', NETLIFY_EDGE, '2026-11-22'),
  },
  'cloud-run': {
    callMs: ms(300_000, 'a request, unless --timeout says more', CLOUD_RUN, '2026-11-22'),
    maxCallMs: ms(60 * MINUTE_MS, 'a request at most', CLOUD_RUN, '2026-11-22'),
  },
} as const satisfies { readonly [platform: string]: { readonly [name: string]: Fact } }

/** A build limit and its source. */
export function sizeLimit(fact: Fact, measured: SizeLimit['of']): SizeLimit {
  const { says, value, source, checked } = fact
  return { name: says, of: measured, bytes: Number(value), source, checked }
}

/** Formatted for people: `300 s`, `6 MB`, `64 MiB`. */
export function shownValue({ value, unit }: Fact): string {
  if (unit === 'date') return String(value)
  const amount = Number(value)
  if (unit === 'executions') return amount.toLocaleString('en')
  if (unit === 'ms') return amount % 1000 === 0 ? `${amount / 1000} s` : `${amount} ms`
  if (amount % MIB === 0) return `${amount / MIB} MiB`
  if (amount >= 1000 * MB && amount % (1000 * MB) === 0) return `${amount / 1000 / MB} GB`
  return amount % 1000 === 0 && amount >= MB ? `${amount / MB} MB` : `${amount.toLocaleString('en')} bytes`
}
