/**
 * Tasks of one server: creates them from calls, runs them in slices, and answers the methods of the extension
 * `io.modelcontextprotocol/tasks` (SEP-2663).
 */
import { type Names, requireOptions } from '../definition/unknown-option.ts'
import { joinExtensions } from '../extension/join.ts'
import type { ExtensionParts } from '../request/extension.ts'
import { createCall } from './call.ts'
import { isDeclared, TASKS_EXTENSION } from './declared.ts'
import { createRunDue } from './due.ts'
import { TASK_FEATURE } from './feature.ts'
import { asInboxError, notified } from './inbox.ts'
import { createListening } from './listening.ts'
import { createMethods } from './methods.ts'
import type { Task } from './record.ts'
import { createTaskRuns, runsOf } from './runs.ts'
import { checkTaskOption, TASKS_OPTIONS, type TasksOptions } from './settings.ts'
import { createStatusTools } from './status-tools.ts'
import type { TaskStore } from './store.ts'
import type { TaskSupport } from './support.ts'
import type { Changed } from './task-records.ts'

type Options = TasksOptions & { readonly store: TaskStore }

const OPTIONS: Names<Options> = { store: 'object', ...TASKS_OPTIONS }

/**
 * Creates the `tasks` of a server from a store.
 *
 * ```ts
 * tasks: createTasks({ store: createMemoryTaskStore() })
 * ```
 *
 * @throws TypeError for an invalid option.
 */
export function createTasks(options: Options): TaskSupport {
  requireOptions('createTasks', options, OPTIONS)
  const runs = createTaskRuns(options)
  const { records, settings } = runs
  const call = createCall(runs)
  let own: ReturnType<typeof createStatusTools> = {}
  const parts: ExtensionParts = {
    settings: ({ era }) => (era === 'modern' ? {} : undefined),
    methods: createMethods(runs),
    attach(host) {
      runs.attach(host)
      const tasks = [...host.tools.values()].filter(({ task }) => task !== undefined)
      for (const tool of tasks) checkTaskOption(tool, settings)
      if (tasks.length > 0) own = createStatusTools(runs, tasks)
      for (const [name, tool] of Object.entries(own)) if (!host.tools.has(name)) host.tools.set(name, tool)
    },
    call: (tool, input, context) => (tool.source.task === undefined ? undefined : call(tool, input, context)),
    get hidesTools() {
      return Object.keys(own).length > 0
    },
    hides({ name, source }, client) {
      // One of the server's own tools may have that name.
      const isOurs = Object.hasOwn(own, name) && own[name]!.execute === source.execute
      // Clients that cannot be asked still need `task_answer`.
      return isOurs && isDeclared(client) && client.clientCapabilities.elicitation !== undefined
    },
    ...TASK_FEATURE,
    facts: () => ({ hasTasks: true, hasLocalTasks: support.isLocal, hasTaskRunner: support.hasRunner }),
    close: runs.close,
    ...createListening(runs),
  }
  const support: TaskSupport = {
    id: TASKS_EXTENSION,
    name: 'tasks',
    parts,
    join: joinExtensions,
    isLocal: settings.store.isLocal === true,
    hasRunner: settings.runner !== undefined,
    async send(taskId, name, value) {
      let isTaken = false
      const change = (current: Task): Changed | undefined => {
        if (runs.isForeign(current.server)) return undefined
        const { maxStateBytes } = settings.store
        const changed = notified(current, name, value ?? null, maxStateBytes, records.clock.offsetMs)
        isTaken = changed !== undefined
        return changed
      }
      const task = await records.change(taskId, change).catch((error: unknown) => {
        throw asInboxError(error)
      })
      return task !== undefined && isTaken
    },
    run: runs.run,
    runDue: createRunDue(runs),
    close: runs.close,
  }
  runsOf.set(support, runs)
  settings.runner?.attach?.(support, runs)
  return support
}
