/** Template of a function of the package. The functions for clients, the queue and the schedule differ only in the handler. */
import { type KeyedTable, keyedVariables } from './keyed-template.ts'

export interface FunctionOptions {
  /** These three are values of the template. */
  readonly handler: string
  readonly timeout: string | number
  readonly concurrency?: string
}

/** What the stack has for the functions. */
export interface FunctionStores {
  readonly hasTasks: boolean
  readonly tables: readonly KeyedTable[]
}

/** Lines for `Resources`. `Events` may follow. */
export function functionOf(
  name: string,
  stores: FunctionStores,
  { handler, timeout, concurrency }: FunctionOptions,
): string {
  return `  ${name}:
    Type: AWS::Serverless::Function
    Properties:
      FunctionName: !Sub \${AWS::StackName}-${name}
      CodeUri: function.zip
      Handler: ${handler}
      Runtime: nodejs24.x
      Architectures: [arm64]
      MemorySize: !Ref MemoryMegabytes
      Timeout: ${timeout}
${concurrency === undefined ? '' : `      ReservedConcurrentExecutions: ${concurrency}\n`}      Role: !GetAtt Role.Arn
      LoggingConfig:
        LogGroup: !Ref LogGroup
        LogFormat: Text
      Environment:
        Variables:
          MAYFLY_STAGE: !Ref Stage
          MAYFLY_SECRETS: !If
            - MakesSecret
            - !Sub '{{resolve:secretsmanager:\${Secret}:SecretString}}'
            - !Sub '{{resolve:secretsmanager:\${StoredVariables}:SecretString:::\${StoredVersion}}}'
${stores.hasTasks ? TASK_VARIABLES : ''}${keyedVariables(stores.tables)}`
}

const TASK_VARIABLES = `          TASKS_TABLE: !Ref Tasks
          TASKS_QUEUE_URL: !Ref TasksQueue
`
