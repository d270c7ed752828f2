/** Tools for clients without the extension: poll for a task, and answer its questions. */
import { jsonSchema } from '../definition/json-schema.ts'
import type { AnyTool } from '../definition/tool.ts'
import { principalOf } from '../request/principal.ts'
import type { RunContext } from './context.ts'
import { ANSWER_TOOL, STATUS_TOOL, statusResult } from './handle.ts'
import { mayUse, readOwn, takeAnswers } from './methods.ts'
import type { Task } from './record.ts'
import type { TaskRuns } from './runs.ts'
import { settingsOf } from './settings.ts'

const TASK_ID = { type: 'string', description: 'The id of the task.' } as const

/** Undefined for servers whose tools refuse clients without the extension. */
export function createStatusTools(
  runs: TaskRuns,
  tools: readonly AnyTool[],
): { readonly [name: string]: AnyTool } {
  const find = async (taskId: string, context: RunContext): Promise<Task> => {
    const task = await readOwn(runs, taskId, principalOf(context))
    if (!mayUse(runs, task, context.parts.facts.access))
      throw new Error(`Your token lacks a scope that tool "${task.record.tool}" of this task needs.`)
    return task
  }
  if (tools.every(({ task }) => settingsOf(task!, runs.settings).fallback === 'refuse')) return {}
  return {
    [STATUS_TOOL]: {
      id: STATUS_TOOL,
      description: 'Returns the progress of a task started by another tool, or its result.',
      inputSchema: jsonSchema({ type: 'object', properties: { taskId: TASK_ID }, required: ['taskId'] }),
      mcp: { annotations: { readOnlyHint: true } },
      execute: async ({ taskId }: { taskId: string }, context: RunContext) => {
        const task = await find(taskId, context)
        runs.kick(task, context)
        return statusResult(task)
      },
    },
    [ANSWER_TOOL]: {
      id: ANSWER_TOOL,
      description: "Sends the user's answers to a task that asked for them.",
      inputSchema: jsonSchema({
        type: 'object',
        properties: {
          taskId: TASK_ID,
          answers: {
            type: 'object',
            description: 'For each question, by its key: the action and the content.',
          },
        },
        required: ['taskId', 'answers'],
      }),
      execute: async (
        { taskId, answers }: { taskId: string; answers: { [key: string]: unknown } },
        context: RunContext,
      ) => {
        const task = await find(taskId, context)
        const next = (await takeAnswers(runs, task, answers)) ?? task
        runs.kick(next, context)
        return statusResult(next)
      },
    },
  }
}
