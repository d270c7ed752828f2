/**
 * The CloudFormation template of a deployment: the function with its trigger, and the store of its secrets.
 *
 * Plain CloudFormation, except the function, which is SAM's, so that `sam deploy` uploads its package. The templates are in a module
 * instead of files, so that the built package contains them.
 *
 * Every name holds the stack's, so that two stacks fit into one account and region, and `github-role.ts` can allow one of them alone. Roles
 * have a path instead: their names are the account's, and CloudFormation shortens them.
 */

import { createHash } from 'node:crypto'
import type { Cron } from '../../project/cron.ts'
import { deadLetterAlarm, functionAlarms } from './alarms-template.ts'
import { functionOf } from './function-template.ts'
import { type KeyedTable, keyedPolicies, keyedResources, keyedUses } from './keyed-template.ts'
import { cronFunction, TASK_POLICY, taskResources } from './tasks-template.ts'

export interface TemplateOptions {
  /** When to call `index.cronHandler`, and with which path. Default: never. */
  readonly crons?: readonly Cron[]
  /**
   * Whether to create a table and a queue for tasks (the variables TASKS_TABLE and TASKS_QUEUE_URL). `index.queueHandler` reads the queue.
   */
  readonly hasTasks?: boolean
  /**
   * The other tables: `grants` for the connections of people who sign in (the variable GRANTS_TABLE), `events` for MCP Events (EVENTS_TABLE).
   */
  readonly tables?: readonly KeyedTable[]
}

/** What a deployment of the REST API copies. It must depend on no parameter: only a change of this text makes a new deployment. */
const REST_ROUTES = `  RestPath:
    Type: AWS::ApiGateway::Resource
    Condition: HasRestApi
    Properties:
      RestApiId: !Ref RestApi
      ParentId: !GetAtt RestApi.RootResourceId
      PathPart: '{proxy+}'
  RestMethod:
    Type: AWS::ApiGateway::Method
    Condition: HasRestApi
    Properties:
      RestApiId: !Ref RestApi
      ResourceId: !Ref RestPath
      HttpMethod: ANY
      AuthorizationType: NONE
      Integration:
        Type: AWS_PROXY
        IntegrationHttpMethod: POST
        # A REST API can stream since November 2025.
        ResponseTransferMode: STREAM
        # The most that a stream may take: the function's timeout, which a deployment does not copy, ends a call earlier.
        TimeoutInMillis: 900000
        Uri: !Sub 'arn:\${AWS::Partition}:apigateway:\${AWS::Region}:lambda:path/2021-11-15/functions/\${Function.Arn}/response-streaming-invocations'
`

/** API Gateway deploys a REST API only with a new deployment, and CloudFormation creates one only under another id. */
const REST_DEPLOYMENT = `RestDeployment${createHash('sha256').update(REST_ROUTES).digest('hex').slice(0, 10)}`

/** Parameters keep their values from the last deployment unless they are set. */
export const template = ({
  crons = [],
  hasTasks = false,
  tables = [],
}: TemplateOptions = {}): string => `AWSTemplateFormatVersion: '2010-09-09'
Transform: AWS::Serverless-2016-10-31
Description: An MCP server on AWS Lambda

Parameters:
  Endpoint:
    Type: String
    Default: function-url
    AllowedValues: [function-url, rest-api, http-api]
    Description: A Function URL and a REST API stream, for up to 15 minutes; an HTTP API sends buffered responses, within 30 seconds.
  TimeoutSeconds:
    Type: Number
    Default: 60
    MinValue: 5
    MaxValue: 900
    Description: Maximum duration of a call or a stream. An HTTP API allows 29.
  MemoryMegabytes:
    Type: Number
    Default: 512
    MinValue: 128
    MaxValue: 10240
  LogRetentionDays:
    Type: Number
    Default: 30
    AllowedValues: [1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653]
  MaxConcurrency:
    Type: Number
    Default: 0
    MinValue: 0
    Description: Maximum concurrent calls and open streams, which caps the cost. 0 uses the limit of the account; any other value requires that 100 executions of the account stay unreserved.
  AlarmTopic:
    Type: String
    Default: ''
    Description: ARN of an SNS topic that is notified of throttled and failed calls of each function, and of tasks whose message was given up. If empty, no alarms are created. Each costs about 0.10 US dollars a month.
  Boundary:
    Type: String
    Default: ''
    Description: ARN of an IAM policy that limits the rights of the stack's roles. aws/github-role.yaml creates one. If empty, there is no limit.
  Stage:
    Type: String
    Default: ''
    Description: The variable MAYFLY_STAGE. If empty, this is production.
  StoredVariables:
    Type: String
    Default: ''
    Description: Name or ARN in Secrets Manager of a JSON object of variables. If empty, one with a MAYFLY_SECRET is created.
  StoredVersion:
    Type: String
    Default: ''
    Description: Its version. If empty, the current version at the time of the deployment.

Conditions:
  HasFunctionUrl: !Equals [!Ref Endpoint, function-url]
  HasRestApi: !Equals [!Ref Endpoint, rest-api]
  HasHttpApi: !Equals [!Ref Endpoint, http-api]
  HasAlarms: !Not [!Equals [!Ref AlarmTopic, '']]
  HasMaxConcurrency: !Not [!Equals [!Ref MaxConcurrency, '0']]
  MakesSecret: !Equals [!Ref StoredVariables, '']
  HasBoundary: !Not [!Equals [!Ref Boundary, '']]

Resources:
${functionOf(
  'Function',
  { hasTasks, tables },
  {
    handler: '!If [HasHttpApi, index.handler, index.streamingHandler]',
    timeout: '!If [HasHttpApi, 29, !Ref TimeoutSeconds]',
    concurrency: '!If [HasMaxConcurrency, !Ref MaxConcurrency, !Ref AWS::NoValue]',
  },
)}
${crons.length === 0 ? '' : cronFunction(crons, { hasTasks, tables })}${hasTasks ? taskResources({ hasTasks, tables }) : ''}${keyedResources(tables)}  # Encrypts the state of a call while its user is asked.
  Secret:
    Type: AWS::SecretsManager::Secret
    Condition: MakesSecret
    DeletionPolicy: Delete
    UpdateReplacePolicy: Delete
    Properties:
      Name: !Sub \${AWS::StackName}-generated
      Description: Variables of an MCP server
      GenerateSecretString:
        SecretStringTemplate: '{}'
        GenerateStringKey: MAYFLY_SECRET
        PasswordLength: 64
        ExcludePunctuation: true

  LogGroup:
    Type: AWS::Logs::LogGroup
    DeletionPolicy: Delete
    UpdateReplacePolicy: Delete
    Properties:
      LogGroupName: !Sub /mayfly/\${AWS::StackName}
      RetentionInDays: !Ref LogRetentionDays

  # Allows only writing the log${hasTasks ? ' and using the task store' : ''}${keyedUses(tables)}.
  Role:
    Type: AWS::IAM::Role
    Properties:
      Path: !Sub /mayfly/\${AWS::StackName}/
      PermissionsBoundary: !If [HasBoundary, !Ref Boundary, !Ref AWS::NoValue]
      AssumeRolePolicyDocument:
        Version: '2012-10-17'
        Statement:
          - Effect: Allow
            Principal: { Service: lambda.amazonaws.com }
            Action: sts:AssumeRole
      Policies:
        - PolicyName: write-log
          PolicyDocument:
            Version: '2012-10-17'
            Statement:
              - Effect: Allow
                Action: [logs:CreateLogStream, logs:PutLogEvents]
                Resource: !GetAtt LogGroup.Arn
${hasTasks ? TASK_POLICY : ''}${keyedPolicies(tables)}
  Url:
    Type: AWS::Lambda::Url
    Condition: HasFunctionUrl
    Properties:
      TargetFunctionArn: !GetAtt Function.Arn
      AuthType: NONE
      InvokeMode: RESPONSE_STREAM

  # A public Function URL needs both since October 2025.
  UrlPermission:
    Type: AWS::Lambda::Permission
    Condition: HasFunctionUrl
    Properties:
      FunctionName: !Ref Function
      Action: lambda:InvokeFunctionUrl
      Principal: '*'
      FunctionUrlAuthType: NONE
  UrlInvokePermission:
    Type: AWS::Lambda::Permission
    Condition: HasFunctionUrl
    Properties:
      FunctionName: !Ref Function
      Action: lambda:InvokeFunction
      Principal: '*'
      InvokedViaFunctionUrl: true

  RestApi:
    Type: AWS::ApiGateway::RestApi
    Condition: HasRestApi
    Properties:
      Name: !Ref AWS::StackName
      EndpointConfiguration: { Types: [REGIONAL] }
${REST_ROUTES}  ${REST_DEPLOYMENT}:
    Type: AWS::ApiGateway::Deployment
    Condition: HasRestApi
    DependsOn: RestMethod
    Properties:
      RestApiId: !Ref RestApi
  RestStage:
    Type: AWS::ApiGateway::Stage
    Condition: HasRestApi
    Properties:
      RestApiId: !Ref RestApi
      DeploymentId: !Ref ${REST_DEPLOYMENT}
      StageName: v1
  RestPermission:
    Type: AWS::Lambda::Permission
    Condition: HasRestApi
    Properties:
      FunctionName: !Ref Function
      Action: lambda:InvokeFunction
      Principal: apigateway.amazonaws.com
      SourceArn: !Sub 'arn:\${AWS::Partition}:execute-api:\${AWS::Region}:\${AWS::AccountId}:\${RestApi}/*'

  Api:
    Type: AWS::ApiGatewayV2::Api
    Condition: HasHttpApi
    Properties:
      Name: !Ref AWS::StackName
      ProtocolType: HTTP
  ApiIntegration:
    Type: AWS::ApiGatewayV2::Integration
    Condition: HasHttpApi
    Properties:
      ApiId: !Ref Api
      IntegrationType: AWS_PROXY
      IntegrationUri: !GetAtt Function.Arn
      PayloadFormatVersion: '2.0'
  ApiRoute:
    Type: AWS::ApiGatewayV2::Route
    Condition: HasHttpApi
    Properties:
      ApiId: !Ref Api
      RouteKey: $default
      Target: !Sub integrations/\${ApiIntegration}
  ApiStage:
    Type: AWS::ApiGatewayV2::Stage
    Condition: HasHttpApi
    Properties:
      ApiId: !Ref Api
      StageName: $default
      AutoDeploy: true
  ApiPermission:
    Type: AWS::Lambda::Permission
    Condition: HasHttpApi
    Properties:
      FunctionName: !Ref Function
      Action: lambda:InvokeFunction
      Principal: apigateway.amazonaws.com
      SourceArn: !Sub 'arn:\${AWS::Partition}:execute-api:\${AWS::Region}:\${AWS::AccountId}:\${Api}/*'

${functionAlarms([
  'Function',
  ...(hasTasks ? ['QueueFunction'] : []),
  ...(crons.length === 0 ? [] : ['CronFunction']),
])}${hasTasks ? deadLetterAlarm('TasksDeadLetters') : ''}
Outputs:
  FunctionUrlEndpoint:
    Condition: HasFunctionUrl
    Description: Where clients connect
    Value: !Sub '\${Url.FunctionUrl}mcp'
  RestApiEndpoint:
    Condition: HasRestApi
    Description: Where clients connect
    Value: !Sub 'https://\${RestApi}.execute-api.\${AWS::Region}.\${AWS::URLSuffix}/\${RestStage}/mcp'
  HttpApiEndpoint:
    Condition: HasHttpApi
    Description: Where clients connect
    Value: !Sub '\${Api.ApiEndpoint}/mcp'
  LogGroupName:
    Value: !Ref LogGroup
`

/** The store for the secrets of `mayfly deploy --secret`: a separate stack, since it must exist before the function. */
export const SECRETS_TEMPLATE = `AWSTemplateFormatVersion: '2010-09-09'
Description: The secrets of an MCP server on AWS Lambda

Parameters:
  StoreName:
    Type: String

Resources:
  Secret:
    Type: AWS::SecretsManager::Secret
    DeletionPolicy: Delete
    UpdateReplacePolicy: Delete
    Properties:
      Name: !Ref StoreName
      Description: Variables of an MCP server, a JSON object
      GenerateSecretString:
        SecretStringTemplate: '{}'
        GenerateStringKey: MAYFLY_SECRET
        PasswordLength: 64
        ExcludePunctuation: true
`
