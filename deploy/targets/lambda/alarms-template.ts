/** Alarms of the stack, which exist only with the parameter `AlarmTopic`: each notifies it of five minutes in which a number is not zero. */

const PERIOD_SECONDS = 300

interface Alarm {
  /** Follows the stack's name and, as the id in the template, stands alone: letters only. */
  readonly name: string
  readonly description: string
  readonly metric: string
  readonly namespace: string
  /** A flow mapping of YAML. */
  readonly dimension: string
  readonly statistic: 'Sum' | 'Maximum'
}

/** Lines for `Resources`: calls that were refused, and calls that ended without an answer. */
export function functionAlarms(names: readonly string[]): string {
  return names
    .flatMap((name) => {
      const of = { namespace: 'AWS/Lambda', dimension: `{ Name: FunctionName, Value: !Ref ${name} }` }
      return [
        alarm({
          ...of,
          name: `${name}Throttles`,
          metric: 'Throttles',
          statistic: 'Sum',
          description:
            'Calls were refused because too many ran at once. See MaxConcurrency, and the limit of the account.',
        }),
        alarm({
          ...of,
          name: `${name}Errors`,
          metric: 'Errors',
          statistic: 'Sum',
          description:
            'The function ended without an answer, because of a timeout, too little memory, or an error while loading. See its log.',
        }),
      ]
    })
    .join('')
}

/** Lines for `Resources`: messages that could not be handled as often as the queue allows. */
export function deadLetterAlarm(queue: string): string {
  return alarm({
    name: queue,
    namespace: 'AWS/SQS',
    metric: 'ApproximateNumberOfMessagesVisible',
    dimension: `{ Name: QueueName, Value: !GetAtt ${queue}.QueueName }`,
    statistic: 'Maximum',
    description:
      'Messages for tasks were given up after 100 attempts. The schedule still runs their tasks; see the log of the function that reads the queue.',
  })
}

function alarm({ name, description, metric, namespace, dimension, statistic }: Alarm): string {
  return `  ${name}Alarm:
    Type: AWS::CloudWatch::Alarm
    Condition: HasAlarms
    Properties:
      AlarmName: !Sub \${AWS::StackName}-${name}
      AlarmDescription: ${description}
      Namespace: ${namespace}
      MetricName: ${metric}
      Dimensions: [${dimension}]
      Statistic: ${statistic}
      Period: ${PERIOD_SECONDS}
      EvaluationPeriods: 1
      Threshold: 1
      ComparisonOperator: GreaterThanOrEqualToThreshold
      TreatMissingData: notBreaching
      AlarmActions: [!Ref AlarmTopic]
`
}
