/** Describes a task for clients without the extension, as text for the model. */

import type { CompiledTool } from '../definition/compiled-tool.ts'
import type { CallToolResult } from '../definition/content.ts'
import { describeTask, type Task } from './record.ts'

/** The tools that such clients use. */
export const STATUS_TOOL = 'task_status'
export const ANSWER_TOOL = 'task_answer'

/** The key in `_meta` of a result whose call continues as a task. Its value is the extension's `Task`. */
export const TASK_META = 'mayfly/task'

/** The result of a call that has become a task. */
export function handleResult(task: Task, { source }: CompiledTool): CallToolResult {
  return {
    content: [{ type: 'text', text: describeAsText(task) }],
    _meta: { [TASK_META]: describeTask(task) },
    // Clients check the results of a tool with an output schema, unless they are errors.
    ...(source.outputSchema !== undefined && { isError: true }),
  }
}

/** The result of the status tool: the task's own result once it exists. */
export function statusResult(task: Task): CallToolResult {
  const { status, result } = task.record
  const _meta = { [TASK_META]: describeTask(task) }
  if (status === 'completed') {
    const own = result as CallToolResult
    return { ...own, _meta: { ...own._meta, ..._meta } }
  }
  const isError = status === 'failed'
  return { content: [{ type: 'text', text: describeAsText(task) }], _meta, ...(isError && { isError }) }
}

function describeAsText(task: Task): string {
  const { id, record } = task
  const { status, statusMessage, pollIntervalMs, error } = record
  const said = statusMessage === undefined ? '' : ` Status: ${statusMessage}`
  switch (status) {
    case 'input_required':
      return describeQuestions(task)
    case 'failed':
      return `Task ${id} failed: ${error?.message}`
    case 'cancelled':
      return `Task ${id} was cancelled.`
    default:
      return `This takes longer and continues as task ${id}.${said} Its result is not available yet: call ${STATUS_TOOL} with {"taskId":"${id}"} in ${Math.ceil(pollIntervalMs / 1000)} seconds or later.`
  }
}

function describeQuestions({ id, record: { questions } }: Task): string {
  const lines = Object.entries(questions).map(([key, { method, params }]) => {
    const { message = method, requestedSchema } = params as { message?: string; requestedSchema?: object }
    const form =
      requestedSchema === undefined
        ? ''
        : ` Answer according to this JSON Schema: ${JSON.stringify(requestedSchema)}`
    return `- ${key}: ${message}${form}`
  })
  const answers = Object.keys(questions).map((key) => [key, { action: 'accept', content: {} }])
  const example = { taskId: id, answers: Object.fromEntries(answers) }
  return [
    `Task ${id} needs answers from the user. Ask the user; do not answer for them:`,
    ...lines,
    `Then call ${ANSWER_TOOL} with ${JSON.stringify(example)}, each "content" filled in; "action" may also be "decline" or "cancel".`,
  ].join('\n')
}
