/** A server with a tool that has a span of its own, in which it calls another service. */
import { SpanStatusCode, trace } from '@opentelemetry/api'
import { createTool, MCPServer } from 'mayfly-mcp'
import { openTelemetry } from 'mayfly-mcp/otel'
import { z } from 'zod'

/** @param tracedFetch Sends `traceparent`. @param flush Sends the spans that have ended. */
export function createWeatherServer(tracedFetch: typeof fetch, flush: () => Promise<void>): MCPServer {
  const weather = createTool({
    id: 'weather',
    description: 'Tells the weather of a city',
    inputSchema: z.object({ city: z.string() }),
    execute: ({ city }, ctx) =>
      trace.getTracer('weather').startActiveSpan('look up', async (span) => {
        try {
          ctx.reportProgress({ progress: 0, total: 1, message: `Looking up ${city}` })
          const address = `${ctx.env.WEATHER_URL}?city=${encodeURIComponent(city)}`
          const response = await tracedFetch(address, { signal: ctx.signal })
          return await response.text()
        } catch (error) {
          span.setStatus({ code: SpanStatusCode.ERROR })
          throw error
        } finally {
          span.end()
        }
      }),
  })
  return new MCPServer({
    id: 'weather',
    name: 'Weather',
    version: '1.0.0',
    tools: { weather },
    telemetry: openTelemetry({ flush }),
  })
}
