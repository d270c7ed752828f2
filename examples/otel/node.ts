/**
 * OpenTelemetry on Node: `npx mayfly build node.ts --target node`. A process that runs on can send fewer, larger
 * batches instead: without `flush`, by the timer of `tracing.ts`. What a batch holds when the process ends is then lost.
 */
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { registerInstrumentations } from '@opentelemetry/instrumentation'
import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici'
import { startTracing } from './tracing.ts'
import { createWeatherServer } from './weather.ts'

// Sends to OTEL_EXPORTER_OTLP_ENDPOINT, with OTEL_EXPORTER_OTLP_HEADERS.
const provider = startTracing(new OTLPTraceExporter())
// Each `fetch` has a span, and sends `traceparent`.
registerInstrumentations({ instrumentations: [new UndiciInstrumentation()] })

export default createWeatherServer(fetch, () => provider.forceFlush())
