/**
 * Spans and metrics of tasks. The semantic conventions have none for them: those for messaging need a messaging system and the name of its
 * queue. So names begin with `mayfly.tasks`, and a run is a span of the kind of a consumer with a link, as those conventions want it.
 */
import {
  type Attributes,
  context,
  isSpanContextValid,
  type Link,
  type Meter,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { clip } from '../protocol/describe.ts'
import type {
  Span,
  TaskTelemetry,
  TracedRequest,
  TracedRunOutcome,
  TracedTask,
} from '../request/telemetry.ts'
import type { StartFlush } from './flush.ts'
import { clipped, createInstruments, createQueue, SCOPE, SECONDS } from './instruments.ts'
import { parentOf } from './parent.ts'

export function createTaskTelemetry(
  tracer: Tracer | undefined,
  meter: Meter | undefined,
  flush: StartFlush,
): TaskTelemetry {
  const instruments = createInstruments(meter, createTaskInstruments)
  return {
    createdBy,
    startRun(run) {
      const own = trace.setSpan(
        // A trace of its own: the one of its call has long ended.
        context.active(),
        (tracer ?? trace.getTracer(SCOPE)).startSpan(clip(`run ${run.tool}`), {
          root: true,
          kind: SpanKind.CONSUMER,
          startTime: run.startedAt,
          links: linksTo(run.createdBy),
          attributes: clipped({
            'gen_ai.operation.name': 'execute_tool',
            'gen_ai.tool.name': run.tool,
            'mayfly.tasks.id': run.taskId,
          }),
        }),
      )
      return {
        run: (work) => context.with(own, work),
        end(outcome) {
          const span = trace.getSpan(own)!
          const attributes = outcomeOf(outcome)
          span.setAttributes(attributes)
          if (attributes['error.type'] !== undefined) span.setStatus({ code: SpanStatusCode.ERROR })
          span.end()
          const seconds = Math.max(0, Date.now() - run.startedAt) / 1000
          context.with(own, () => instruments().duration.record(seconds, { ...toolOf(run), ...attributes }))
          flush(run)
        },
      } satisfies Span<TracedRunOutcome>
    },
    recordCrash(task) {
      instruments().crashes.add(1, toolOf(task))
    },
    recordQueue(queue) {
      instruments().queue(queue)
    },
  }
}

function createTaskInstruments(meter: Meter) {
  return {
    duration: meter.createHistogram('mayfly.tasks.run.duration', {
      unit: 's',
      description: 'Duration of one run of a task.',
      advice: { explicitBucketBoundaries: [...SECONDS, 600, 900] },
    }),
    crashes: meter.createCounter('mayfly.tasks.crashes', {
      unit: '{crash}',
      description: 'Runs that died, or did not reach the store for the time of their lease.',
    }),
    queue: createQueue(meter, 'mayfly.tasks', '{task}', {
      depth: 'Tasks that are due and wait for a run.',
      age: 'Time for which the first of the due tasks has been waiting for a run.',
    }),
  }
}

/** Each name is a separate time series. */
function toolOf({ tool, isDefined }: TracedTask): Attributes {
  return isDefined ? { 'gen_ai.tool.name': tool } : {}
}

function outcomeOf({ outcome, code, isToolError }: TracedRunOutcome): Attributes {
  const type = code === undefined ? (isToolError ? 'tool_error' : undefined) : String(code)
  const failure = type ?? (outcome === 'released' ? outcome : undefined)
  return { 'mayfly.tasks.outcome': outcome, ...(failure !== undefined && { 'error.type': failure }) }
}

/** The span of the call, or where there is no context manager that of its client, as a `traceparent`. */
function createdBy(request: Pick<TracedRequest, 'params' | 'headers'>): string | undefined {
  const span = trace.getSpanContext(context.active()) ?? trace.getSpanContext(parentOf(request))
  if (span === undefined || !isSpanContextValid(span)) return undefined
  return `00-${span.traceId}-${span.spanId}-${span.traceFlags.toString(16).padStart(2, '0')}`
}

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/

function linksTo(traceparent: string | undefined): Link[] {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(traceparent ?? '') ?? []
  if (traceId === undefined || spanId === undefined) return []
  return [{ context: { traceId, spanId, traceFlags: Number.parseInt(flags!, 16), isRemote: true } }]
}
