/** OpenTelemetry on Bun: `npx mayfly build bun.ts --target bun`. */
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { tracedFetch } from './traced-fetch.ts'
import { startTracing } from './tracing.ts'
import { createWeatherServer } from './weather.ts'

// Sends to OTEL_EXPORTER_OTLP_ENDPOINT, with OTEL_EXPORTER_OTLP_HEADERS.
const provider = startTracing(new OTLPTraceExporter())

export default createWeatherServer(tracedFetch, () => provider.forceFlush())
