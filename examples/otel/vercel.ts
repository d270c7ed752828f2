/** OpenTelemetry on Vercel’s Node runtime: `npx mayfly build vercel.ts --target vercel`. The spans leave within `waitUntil`, after the response. */
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
