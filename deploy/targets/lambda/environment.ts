/** One execution environment: a process of a runtime interface client, with one call at a time. */
import { readFileSync } from 'node:fs'
import { ownModule } from '../../project/own-module.ts'
import { startProcessGroup } from '../../run/process-group.ts'
import { type Answer, startRuntimeApi } from './runtime-api.ts'

export interface LambdaFunction {
  /** The runtime interface client to run: AWS's own, or `runtime-client.ts`. */
  readonly ric: string
  /** Where the deployment package was unpacked. */
  readonly taskRoot: string
  /** `index.handler` */
  readonly handler: string
  readonly timeoutMs: number
  /** Variables in addition to those that Lambda sets. */
  readonly env: NodeJS.ProcessEnv
  /** Where the function's output goes: a file descriptor. Default stderr. */
  readonly output?: number
}

export interface Environment {
  /** While no other call runs. */
  invoke(event: object): Run
  /** Resolves when the function is loaded; rejects with the reason if it cannot be loaded. */
  readonly loaded: Promise<void>
  /** Resolves when its process has ended. */
  readonly ended: Promise<void>
  /** Kills it; safe to call twice. */
  stop(): Promise<void>
}

export interface Run {
  readonly answer: Promise<Answer>
  /** Resolves when the call is finished; true if the environment can accept the next one. */
  readonly over: Promise<boolean>
}

const OWN_CLIENT = ownModule('deploy/targets/lambda/runtime-client')

/** Whether it accepts an address with a path: AWS's client accepts only a host and a port. Its name does not tell. */
function isOwnClient(ric: string): boolean {
  return readFileSync(ric).equals(readFileSync(OWN_CLIENT))
}

/** Does not wait for the process to start; the first call does. */
export async function startEnvironment(options: LambdaFunction): Promise<Environment> {
  const { ric, taskRoot, handler, timeoutMs, env, output = 2 } = options
  const api = await startRuntimeApi({ hasSecret: isOwnClient(ric) })
  // Not in the group of the gateway: a signal to that lets the running calls end.
  const group = startProcessGroup([ric, handler], {
    cwd: taskRoot,
    env: { ...env, ...lambdaVariables(options), AWS_LAMBDA_RUNTIME_API: api.address },
    stdio: ['ignore', output, output],
  })
  const ended = new Promise<void>((resolve) => {
    group.child.once('exit', (code) => {
      api.fail('Runtime.ExitError', `Runtime exited with status ${code}`)
      resolve()
    })
  })
  const onDeadline = (): void => {
    api.fail('Sandbox.Timedout', `Task timed out after ${(timeoutMs / 1000).toFixed(2)} seconds`)
    void group.kill()
  }
  let stopped: Promise<void> | undefined
  const stop = async (): Promise<void> => {
    await group.kill()
    await ended
    await api.close()
  }
  return {
    invoke: (event) => {
      const { answer, over } = api.invoke(JSON.stringify(event), timeoutMs, onDeadline)
      return { answer, over: Promise.race([over.then(() => true), ended.then(() => false)]) }
    },
    loaded: api.loaded,
    ended,
    stop: () => {
      stopped ??= stop()
      return stopped
    },
  }
}

/** https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html, "Defined runtime environment variables" */
function lambdaVariables({ handler, taskRoot }: LambdaFunction): NodeJS.ProcessEnv {
  return {
    _HANDLER: handler,
    LAMBDA_TASK_ROOT: taskRoot,
    AWS_LAMBDA_FUNCTION_NAME: 'local',
    AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '512',
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
    AWS_LAMBDA_LOG_GROUP_NAME: '/aws/lambda/local',
    AWS_LAMBDA_LOG_STREAM_NAME: '$LATEST',
    AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
    TZ: ':UTC',
  }
}
