/** Additional resources for a schedule or tasks: a function for each, the table and the queue. */
import type { Cron } from '../../project/cron.ts'
import { CliError } from '../../terminal/cli-error.ts'
import { type FunctionStores, functionOf } from './function-template.ts'
import { tableOf } from './table-template.ts'

export const TASK_POLICY = `        - PolicyName: keep-tasks
          PolicyDocument:
            Version: '2012-10-17'
            Statement:
              - Effect: Allow
                Action: [dynamodb:GetItem, dynamodb:PutItem, dynamodb:UpdateItem, dynamodb:DeleteItem, dynamodb:Query, dynamodb:Scan]
                Resource: [!GetAtt Tasks.Arn, !Sub '\${Tasks.Arn}/index/due']
              - Effect: Allow
                Action:
                  - sqs:SendMessage
                  - sqs:ReceiveMessage
                  - sqs:DeleteMessage
                  - sqs:ChangeMessageVisibility
                  - sqs:GetQueueAttributes
                Resource: !GetAtt TasksQueue.Arn
`

const KEYS = `      AttributeDefinitions:
        - { AttributeName: pk, AttributeType: S }
        - { AttributeName: dueShard, AttributeType: S }
        - { AttributeName: dueAt, AttributeType: N }
      KeySchema:
        - { AttributeName: pk, KeyType: HASH }
      GlobalSecondaryIndexes:
        - IndexName: due
          KeySchema:
            - { AttributeName: dueShard, KeyType: HASH }
            - { AttributeName: dueAt, KeyType: RANGE }
          Projection: { ProjectionType: INCLUDE, NonKeyAttributes: [expiresAt] }
`

/** As required by `dynamoTaskStore` and `sqsRunner`. */
export const taskResources = (stores: FunctionStores): string => `${tableOf('Tasks', KEYS)}
  # A message for each time when a task is due.
  TasksQueue:
    Type: AWS::SQS::Queue
    DeletionPolicy: Delete
    UpdateReplacePolicy: Delete
    Properties:
      QueueName: !Sub \${AWS::StackName}-Tasks
      # The timeout of the function that reads it.
      VisibilityTimeout: 300
      MessageRetentionPeriod: 1209600
      SqsManagedSseEnabled: true
      # With the runner's pauses, about a day.
      RedrivePolicy: { deadLetterTargetArn: !GetAtt TasksDeadLetters.Arn, maxReceiveCount: 100 }

  # Messages that could not be handled. Their tasks are in the table, and the schedule runs them.
  TasksDeadLetters:
    Type: AWS::SQS::Queue
    DeletionPolicy: Delete
    UpdateReplacePolicy: Delete
    Properties:
      QueueName: !Sub \${AWS::StackName}-TasksDeadLetters
      MessageRetentionPeriod: 1209600
      SqsManagedSseEnabled: true

${functionOf('QueueFunction', stores, { handler: 'index.queueHandler', timeout: 300 })}      Events:
        Wake:
          Type: SQS
          Properties:
            Queue: !GetAtt TasksQueue.Arn
            BatchSize: 1
            FunctionResponseTypes: [ReportBatchItemFailures]

`

/** Without a path, the function calls the first. */
const cronSchedule = (
  { path, schedule }: Cron,
  at: number,
): string => `  CronSchedule${at === 0 ? '' : at + 1}:
    Type: AWS::Scheduler::Schedule
    Properties:
      Name: !Sub \${AWS::StackName}-Cron${at === 0 ? '' : at + 1}
      ScheduleExpression: ${toSchedule(schedule)}
      FlexibleTimeWindow: { Mode: 'OFF' }
      Target:
        Arn: !GetAtt CronFunction.Arn
        RoleArn: !GetAtt CronRole.Arn
        RetryPolicy: { MaximumRetryAttempts: 0 }
${at === 0 ? '' : `        Input: '${JSON.stringify({ path })}'\n`}
`

export const cronFunction = (crons: readonly Cron[], stores: FunctionStores): string =>
  `${functionOf('CronFunction', stores, { handler: 'index.cronHandler', timeout: 60 })}
  # Not an event of the function: SAM gives such a schedule the same name in every stack.
${crons.map(cronSchedule).join('')}  # Allows only calling the function.
  CronRole:
    Type: AWS::IAM::Role
    Properties:
      Path: !Sub /mayfly/\${AWS::StackName}/
      PermissionsBoundary: !If [HasBoundary, !Ref Boundary, !Ref AWS::NoValue]
      AssumeRolePolicyDocument:
        Version: '2012-10-17'
        Statement:
          - Effect: Allow
            Principal: { Service: scheduler.amazonaws.com }
            Action: sts:AssumeRole
            Condition:
              StringEquals: { aws:SourceAccount: !Ref AWS::AccountId }
      Policies:
        - PolicyName: call-function
          PolicyDocument:
            Version: '2012-10-17'
            Statement:
              - Effect: Allow
                Action: lambda:InvokeFunction
                Resource: !GetAtt CronFunction.Arn

`

/** https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html Throws `CliError` for a schedule that it cannot express. */
function toSchedule(schedule: string): string {
  if (schedule === '* * * * *') return 'rate(1 minute)'
  const [minute, hour, day, month, weekday] = schedule.split(' ') as [string, string, string, string, string]
  if (weekday === '*') return `cron(${minute} ${hour} ${day} ${month} ? *)`
  if (day !== '*')
    throw new CliError(
      `AWS cannot combine a day of the month and a day of the week ("${schedule}"): make one of them *`,
    )
  return `cron(${minute} ${hour} ? ${month} ${weekdays(weekday)} *)`
}

const DAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT']

/** By name, since AWS numbers Sunday differently. */
function weekdays(field: string): string {
  const days = field.split(',').flatMap((part) => {
    const [range = '*', step = '1'] = part.split('/')
    const [from = 0, to = from] = range === '*' ? [0, 6] : range.split('-').map(Number)
    return DAYS.concat(DAYS)
      .slice(from, to + 1)
      .filter((_day, index) => index % Number(step) === 0)
  })
  return [...new Set(days)].join(',')
}
