/**
 * The examples of examples/otel, built and run on each platform's runtime, with a collector on loopback. Their batches are sent after 60
 * seconds, which is longer than these tests wait: what arrives was sent by `flush`.
 */
import { globSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Target } from '../../../deploy/contract/target.ts'
import { bun } from '../../../deploy/targets/bun/target.ts'
import { cloudflare } from '../../../deploy/targets/cloudflare/target.ts'
import { deno } from '../../../deploy/targets/deno/target.ts'
import { lambda } from '../../../deploy/targets/lambda/target.ts'
import { netlify } from '../../../deploy/targets/netlify/target.ts'
import { node } from '../../../deploy/targets/node/target.ts'
import { supabase } from '../../../deploy/targets/supabase/target.ts'
import { vercel } from '../../../deploy/targets/vercel/target.ts'
import { eventually } from '../../_eventually.ts'
import { STRICT, typeFaults } from '../../_type-check.ts'
import { legacyRequest, modernRequest } from '../../contract/wire.ts'
import { type ServedArtefact, serveArtefact, withEnv } from '../_artefact.ts'
import { CWD as LAMBDA } from '../lambda/_function.ts'
import {
  type Collector,
  type ReceivedSpan,
  startCollector,
  startWeather,
  type Weather,
} from './_collector.ts'

const EXAMPLES = new URL('../../../examples/otel/', import.meta.url).pathname

type Build = Pick<Target, 'build' | 'preview'>
type WithVariables = (target: Build, variables: { readonly [name: string]: string }) => Build

/** Wrangler passes its own environment to no Worker. */
const withVars: WithVariables = (target, variables) => ({
  ...target,
  preview: (outDir, options) => {
    const launch = target.preview(outDir, options)
    const vars = Object.entries(variables).flatMap(([name, value]) => ['--var', `${name}:${value}`])
    return { ...launch, args: [...launch.args, ...vars] }
  },
})

/** The package's handler for triggers that take whole responses. */
const buffered: Build = {
  ...lambda,
  preview: (outDir, options) => {
    const launch = lambda.preview(outDir, options)
    return { ...launch, args: [...launch.args, '--trigger', 'http-api', '--handler', 'index.handler'] }
  },
}

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const CALLER = 'b7ad6b7169203331'
const TRACEPARENT = `00-${TRACE}-${CALLER}-01`

describe.each<[string, string, Build, string, WithVariables]>([
  ['Node', 'node.ts', node, EXAMPLES, withEnv],
  ['Bun', 'bun.ts', bun, EXAMPLES, withEnv],
  ['Deno', 'deno.ts', deno, EXAMPLES, withEnv],
  ['Supabase', 'deno.ts', supabase, EXAMPLES, withEnv],
  ['Lambda, streaming', 'lambda.ts', lambda, LAMBDA, withEnv],
  ['Lambda, buffered', 'lambda.ts', buffered, LAMBDA, withEnv],
  ['Vercel', 'vercel.ts', vercel, EXAMPLES, withEnv],
  ['a Netlify Function', 'vercel.ts', netlify, EXAMPLES, withEnv],
  ['workerd', 'cloudflare.ts', cloudflare, EXAMPLES, withVars],
])('OpenTelemetry on %s', (platform, entry, target, cwd, withVariables) => {
  let collector: Collector
  let weather: Weather
  let served: ServedArtefact
  beforeAll(async () => {
    collector = await startCollector()
    weather = await startWeather()
    const variables = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, WEATHER_URL: weather.url }
    served = await serveArtefact(`${EXAMPLES}${entry}`, withVariables(target, variables), cwd)
  })
  afterAll(async () => {
    await served?.stop()
    await weather?.[Symbol.asyncDispose]()
    await collector?.[Symbol.asyncDispose]()
  })

  const ofTrace = (traceId: string): ReceivedSpan[] =>
    collector.spans.filter((span) => span.traceId === traceId)

  it('a call, its tool’s span and its `fetch` are one trace, which goes on from the caller’s and into the other server', async () => {
    const params = { name: 'weather', arguments: { city: 'Rome' } }
    const response = await fetch(
      modernRequest(served.url, 'tools/call', params, { headers: { traceparent: TRACEPARENT } }),
    )
    expect(await response.text()).toContain('It is sunny in Rome.')
    // It returns once they have left.
    if (platform === 'Lambda, buffered') expect(ofTrace(TRACE)).toHaveLength(3)
    await eventually(() => expect(ofTrace(TRACE)).toHaveLength(3))
    const named = (name: string): ReceivedSpan => ofTrace(TRACE).find((span) => span.name === name)!
    const call = named('tools/call weather')
    const inside = named('look up')
    const outgoing = named('GET')
    expect(call).toMatchObject({ parentSpanId: CALLER, kind: 2 })
    expect(inside.parentSpanId).toBe(call.spanId)
    expect(outgoing).toMatchObject({ parentSpanId: inside.spanId, kind: 3 })
    expect(weather.parents.get('Rome')).toBe(`00-${TRACE}-${outgoing.spanId}-01`)
  })

  it('a call that streams: its spans leave after the stream', async () => {
    const parent = '00-00000000000000000000000000000abc-00000000000000ab-01'
    const params = { name: 'weather', arguments: { city: 'Bern' } }
    const meta = { progressToken: 'token', traceparent: parent }
    const response = await fetch(modernRequest(served.url, 'tools/call', params, { meta }))
    const isBuffered = platform === 'Lambda, buffered'
    expect(response.headers.get('content-type')).toBe(isBuffered ? 'application/json' : 'text/event-stream')
    const text = await response.text()
    expect(text).toContain('It is sunny in Bern.')
    expect(text.includes('Looking up Bern')).toBe(!isBuffered)
    const spans = await eventually(() => {
      const found = ofTrace(parent.split('-')[1]!)
      expect(found).toHaveLength(3)
      return found
    })
    expect(spans.find(({ kind }) => kind === 2)?.parentSpanId).toBe('00000000000000ab')
  })

  it('calls at the same time keep their spans apart, and each leaves', async () => {
    const cities = ['Oslo', 'Lima', 'Baku', 'Cork']
    const answers = await Promise.all(
      cities.map(async (city) => {
        const params = { name: 'weather', arguments: { city } }
        return (await fetch(legacyRequest(served.url, 'tools/call', params))).text()
      }),
    )
    expect(answers).toEqual(cities.map((city) => expect.stringContaining(`It is sunny in ${city}.`)))
    for (const city of cities) {
      const [, traceId = '', spanId] = weather.parents.get(city)!.split('-')
      const spans = await eventually(() => {
        const found = ofTrace(traceId)
        expect(found).toHaveLength(3)
        return found
      })
      expect(spans.map(({ name }) => name).sort()).toEqual(['GET', 'look up', 'tools/call weather'])
      expect(spans.find(({ name }) => name === 'GET')!.spanId).toBe(spanId)
    }
  })
})

it('the examples type-check, with what they pin', () => {
  const files = globSync('*.ts', { cwd: EXAMPLES }).map((name) => `${EXAMPLES}${name}`)
  expect(files.length).toBeGreaterThan(8)
  expect(typeFaults(files, { compilerOptions: STRICT })).toEqual([])
})

it('a collector that cannot be reached changes no answer', async () => {
  await using weather = await startWeather()
  const target = withEnv(node, {
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
    WEATHER_URL: weather.url,
  })
  const served = await serveArtefact(`${EXAMPLES}node.ts`, target, EXAMPLES)
  try {
    for (const city of ['Rome', 'Oslo']) {
      const response = await fetch(
        modernRequest(served.url, 'tools/call', { name: 'weather', arguments: { city } }),
      )
      expect(await response.text()).toContain(`It is sunny in ${city}.`)
    }
  } finally {
    await served.stop()
  }
})
