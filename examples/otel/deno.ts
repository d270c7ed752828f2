/** OpenTelemetry on Deno: `npx mayfly build deno.ts --target deno`. */
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { tracedFetch } from './traced-fetch.ts'
import { startTracing } from './tracing.ts'
import { createWeatherServer } from './weather.ts'

// Sends to OTEL_EXPORTER_OTLP_ENDPOINT, with OTEL_EXPORTER_OTLP_HEADERS.
const provider = startTracing(new OTLPTraceExporter())

export default createWeatherServer(tracedFetch, () => provider.forceFlush())
