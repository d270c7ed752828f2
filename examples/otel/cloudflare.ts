/** OpenTelemetry on Workers: `npx mayfly build cloudflare.ts --target cloudflare`. The flag `nodejs_compat` brings the context manager. */
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { tracedFetch } from './traced-fetch.ts'
import { startTracing } from './tracing.ts'
import { createWeatherServer } from './weather.ts'

// In a Worker the exporter reads no variables.
const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint = 'http://localhost:4318' } = process.env
const provider = startTracing(new OTLPTraceExporter({ url: `${endpoint}/v1/traces` }))

export default createWeatherServer(tracedFetch, () => provider.forceFlush())
