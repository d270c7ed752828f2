/** The page of tasks: reads the list with the user's filter, and shows one task. */
import { isA } from '../../../src/definition/error-text.ts'
import { openAgain, part } from './dom.ts'
import { asText, clip, reasonOf } from './json.ts'
import { type Local, readLocal } from './local.ts'
import { showTask, showTaskProblem } from './task-details.ts'
import { createAskTasks, EndpointError, usualPath } from './task-endpoint.ts'
import { createTaskList } from './task-list.ts'

const typed = (id: string): string => part<HTMLInputElement | HTMLSelectElement>(id).value.trim()

function say(text: string): void {
  part('status').textContent = clip(text, 2000)
}

function filterOf(): Record<string, string> {
  const [ageName, ageMs] = typed('age').split('=')
  return {
    ...(typed('task-status') !== '' && { status: typed('task-status') }),
    ...(typed('tool') !== '' && { tool: typed('tool') }),
    ...(ageName && ageMs && { [ageName]: ageMs }),
  }
}

function start(local: Local): void {
  part('endpoint').textContent = new URL(local.endpoint).origin
  part<HTMLInputElement>('path').value = local.tasksPath ?? usualPath(local.endpoint)
  const ask = createAskTasks(local, () => ({ path: typed('path'), secret: typed('secret') || undefined }))
  const onFailure = (error: unknown): void => {
    say(reasonOf(error))
    if (isA(error, EndpointError) && error.status === 401) part('secret').focus()
  }
  const list = createTaskList(part('list'), { ask, onPick: (id) => void open(id), say, onFailure })
  const load = (): Promise<void> => list.load(filterOf())

  let shown = 0
  const open = async (id: string): Promise<void> => {
    const own = ++shown
    list.mark(id)
    say('Reading the task')
    try {
      const task = await ask('show', { id })
      if (own !== shown) return
      showTask(part('task'), task, {
        refresh: () => void open(id),
        retry: () => void change('retry', id),
        cancel: () => void change('cancel', id),
        open: (other) => void open(other),
      })
      say('The task is shown')
    } catch (error) {
      if (own !== shown) return
      showTaskProblem(part('task'), reasonOf(error))
      onFailure(error)
    }
  }
  const change = async (operation: 'retry' | 'cancel', id: string): Promise<void> => {
    say('Waiting for the endpoint')
    try {
      const answer = await ask(operation, { id })
      await load()
      await open((operation === 'retry' && asText(answer.taskId)) || id)
      say(operation === 'retry' ? 'Tried again' : answer.cancelled === true ? 'Cancelled' : 'Not cancelled')
    } catch (error) {
      onFailure(error)
    }
  }

  const settings = part<HTMLFormElement>('settings')
  settings.addEventListener('submit', (event) => {
    event.preventDefault()
    void load()
  })
  settings.addEventListener('change', ({ target }) => {
    if (target instanceof HTMLSelectElement) void load()
  })
  part('by-id').addEventListener('submit', (event) => {
    event.preventDefault()
    void open(typed('task-id'))
  })
  if (local.key !== undefined) void load()
  else
    say(
      'Type the secret of the endpoint. Opened with the address that mayfly dev prints for tasks, the page does not need it.',
    )
}

const local = await readLocal()
if (local === undefined) part('list').replaceChildren(...openAgain())
else start(local)
