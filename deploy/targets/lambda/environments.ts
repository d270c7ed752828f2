/** All execution environments of one function: one per concurrent call, up to a cap. */
import { type Environment, type LambdaFunction, startEnvironment } from './environment.ts'
import type { Answer } from './runtime-api.ts'

export interface Environments {
  /** Runs one call in a free environment, otherwise in a new one, otherwise in the first that becomes free. */
  invoke(event: object): Promise<Answer>
  /** Starts the first environment. Rejects with the reason if the function cannot be loaded. */
  warm(): Promise<void>
  /** How many processes were started so far. */
  readonly started: number
  stop(): Promise<void>
}

/** Limits the load on the user's machine; Lambda itself has no such cap. */
const MAX_ENVIRONMENTS = 8

export function createEnvironments(options: LambdaFunction, max: number = MAX_ENVIRONMENTS): Environments {
  const alive = new Set<Environment>()
  const free = new Set<Environment>()
  const waiting: ((environment: Environment) => void)[] = []
  let started = 0
  /** Environments that run or are being started. */
  let places = 0
  let isStopped = false

  const start = async (): Promise<Environment> => {
    places++
    started++
    const environment = await startEnvironment(options)
    alive.add(environment)
    void environment.ended.then(() => {
      places--
      alive.delete(environment)
      free.delete(environment)
      void environment.stop()
      const next = waiting.shift()
      if (next !== undefined && !isStopped) void start().then(next)
    })
    if (isStopped) await environment.stop()
    return environment
  }
  const acquire = (): Promise<Environment> => {
    const [known] = free
    if (known !== undefined) {
      free.delete(known)
      return Promise.resolve(known)
    }
    return places < max ? start() : new Promise((resolve) => waiting.push(resolve))
  }
  const release = (environment: Environment): void => {
    const next = waiting.shift()
    if (next === undefined) free.add(environment)
    else next(environment)
  }
  return {
    get started() {
      return started
    },
    warm: async () => {
      const environment = await start()
      await environment.loaded
      release(environment)
    },
    invoke: async (event) => {
      const environment = await acquire()
      const { answer, over } = environment.invoke(event)
      void over.then((isReusable) => {
        if (isReusable && alive.has(environment)) release(environment)
      })
      return answer
    },
    stop: async () => {
      isStopped = true
      await Promise.all([...alive].map((environment) => environment.stop()))
    },
  }
}
