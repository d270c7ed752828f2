/**
 * OpenTelemetry on Lambda: `npx mayfly build lambda.ts --target lambda`. Lambda freezes the process with the end of the invocation, so the
 * spans leave before it: choose a collector nearby, such as an extension of the function.
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
