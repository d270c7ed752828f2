/** A Worker whose tasks are in a store elsewhere, for tests: run by a queue at `/queue`, by a workflow at `/workflow`, by alarms at `/alarm`. */
import { env as bindings, WorkflowEntrypoint } from 'cloudflare:workers'
import {
  alarmObject,
  alarmRunner,
  type DurableObjectNamespace,
  queueRunner,
  type TaskQueue,
  type TaskWorkflow,
  workflowRunner,
} from 'mayfly-mcp/cloudflare'
import { createJobs } from './_job.ts'
import { did, remoteStore } from './_remote-store.ts'

interface Wake {
  readonly id: string
  readonly at: number
}

const { STORE_URL, ALARMS, TASK_QUEUE, TASK_WORKFLOW } = bindings as unknown as {
  readonly STORE_URL: string
  readonly ALARMS: DurableObjectNamespace
  readonly TASK_QUEUE: TaskQueue
  readonly TASK_WORKFLOW: TaskWorkflow
}

const wakes: Wake[] = []
const store = remoteStore(STORE_URL)

const queues = queueRunner({
  send(message, options) {
    wakes.push(message as Wake)
    return TASK_QUEUE.send(message, options)
  },
})

const workflows = workflowRunner({
  create(options) {
    wakes.push(options.params)
    return TASK_WORKFLOW.create(options)
  },
  get: (id) => TASK_WORKFLOW.get(id),
})

const callAlarm = (wake: Wake): Promise<Response> => {
  const id = ALARMS.idFromName(JSON.stringify(['', wake.id]))
  return ALARMS.get(id as never).fetch('https://alarms/', { method: 'POST', body: JSON.stringify(wake) })
}

const alarms = alarmRunner({
  idFromName: (name) => ALARMS.idFromName(name),
  get: (id) => ({
    fetch(url, init) {
      wakes.push(JSON.parse(String(init?.body)))
      return ALARMS.get(id).fetch(url, init)
    },
  }),
})

export class Alarms extends alarmObject(() => alarms) {}

const servers = {
  alarm: createJobs(store, alarms, (what) => did(STORE_URL, what)),
  queue: createJobs(store, queues, (what) => did(STORE_URL, what)),
  workflow: createJobs(store, workflows, (what) => did(STORE_URL, what)),
}

export class Tasks extends WorkflowEntrypoint {
  run(event: Parameters<typeof workflows.run>[0], step: Parameters<typeof workflows.run>[1]): Promise<void> {
    return workflows.run(event, step, this.env)
  }
}

export default {
  async fetch(request: Request, env: object, context: object): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url)
    const [, kind, action] = pathname.split('/') as [string, 'alarm' | 'queue' | 'workflow', string]
    switch (action) {
      case 'wakes':
        return Response.json(wakes)
      case 'go':
        return Response.json(await servers[kind].tasks.send(searchParams.get('task')!, 'go', true))
      case 'call': {
        const wake = (await request.json()) as Wake
        const id = `test-${crypto.randomUUID()}`
        if (kind === 'alarm') await callAlarm(wake)
        else if (kind === 'queue') await TASK_QUEUE.send(wake)
        else await TASK_WORKFLOW.create({ id, params: wake })
        return Response.json({})
      }
      default:
        return servers[kind].fetch(request, env, context)
    }
  },
  queue: queues.queue,
}
