/** A provider of metrics of its own, and what it has exported. */
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  type MetricData,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'

export function observeMetrics() {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 })
  const provider = new MeterProvider({ readers: [reader] })
  const exported = async (): Promise<MetricData[]> => {
    await reader.forceFlush()
    return (
      exporter
        .getMetrics()
        .at(-1)
        ?.scopeMetrics.flatMap(({ metrics }) => metrics) ?? []
    )
  }
  return {
    provider,
    meter: provider.getMeter('test'),
    exported,
    /** The time series of a metric. */
    async pointsOf(metric: string): Promise<MetricData['dataPoints']> {
      return (await exported()).find(({ descriptor }) => descriptor.name === metric)?.dataPoints ?? []
    },
  }
}
