/** The CloudFormation template of the role that a GitHub workflow assumes to deploy. Created once for each stack, by hand. */
import { KEYED_TABLES, resourceOf } from './keyed-template.ts'

/** The longest name of a stack: names of functions end in `-QueueFunction` and may have 64 characters. */
export const MAX_STACK_NAME = 50

const REGIONAL = `\${AWS::Region}:\${AWS::AccountId}`
const arn = (service: string, resource: string, place = REGIONAL): string =>
  `arn:\${AWS::Partition}:${service}:${place}:${resource}`

/** Resources of the stack, by the names that `template.ts` gives them. */
const OWN = {
  stacks: [
    arn('cloudformation', `stack/\${Stack}/*`),
    arn('cloudformation', `stack/\${Stack}-secrets/*`),
    arn('cloudformation', 'transform/Serverless-2016-10-31', `\${AWS::Region}:aws`),
  ],
  functions: ['Function', 'QueueFunction', 'CronFunction'].map((name) =>
    arn('lambda', `function:\${Stack}-${name}`),
  ),
  logGroup: [arn('logs', `log-group:/mayfly/\${Stack}`), arn('logs', `log-group:/mayfly/\${Stack}:*`)],
  alarms: [
    ...['Function', 'QueueFunction', 'CronFunction'].flatMap((name) => [`${name}Throttles`, `${name}Errors`]),
    'TasksDeadLetters',
  ].map((name) => arn('cloudwatch', `alarm:\${Stack}-${name}`)),
  // Secrets Manager adds six characters.
  secrets: ['generated', 'secrets'].map((name) => arn('secretsmanager', `secret:\${Stack}-${name}-??????`)),
  // CloudFormation adds characters of its own to the table's name.
  tables: ['Tasks', ...KEYED_TABLES.map(resourceOf)].map((name) =>
    arn('dynamodb', `table/\${Stack}-${name}-*`),
  ),
  queues: ['Tasks', 'TasksDeadLetters'].map((name) => arn('sqs', `\${Stack}-${name}`)),
  // Of several, the others end in a number. Names of stacks have no capitals.
  schedules: [arn('scheduler', `schedule/default/\${Stack}-Cron*`)],
  roles: [arn('iam', `role/mayfly/\${Stack}/*`, `:\${AWS::AccountId}`)],
} as const

/** What a role of the stack may have at most: the sum of what `template.ts` gives its roles. */
const BOUNDARY = [
  statement(['logs:CreateLogStream', 'logs:PutLogEvents'], OWN.logGroup),
  statement(
    ['GetItem', 'PutItem', 'UpdateItem', 'DeleteItem', 'ConditionCheckItem', 'Query', 'Scan'].map(
      (name) => `dynamodb:${name}`,
    ),
    OWN.tables,
  ),
  statement(
    [
      ...[
        'SendMessage',
        'ReceiveMessage',
        'DeleteMessage',
        'ChangeMessageVisibility',
        'GetQueueAttributes',
      ].map((name) => `sqs:${name}`),
    ],
    OWN.queues,
  ),
  statement(['lambda:InvokeFunction'], OWN.functions),
]

const iam = (...names: readonly string[]): string[] => names.map((name) => `iam:${name}`)

const DEPLOY = [
  statement(['cloudformation:*'], OWN.stacks),
  // They read the template that is sent, list alarms and names of logs, and make random text.
  statement(
    [
      'cloudformation:GetTemplateSummary',
      'cloudformation:ValidateTemplate',
      'cloudwatch:DescribeAlarms',
      'logs:DescribeLogGroups',
      'secretsmanager:GetRandomPassword',
    ],
    ['*'],
  ),
  statement(
    ['s3:GetBucketLocation', 's3:ListBucket', 's3:GetObject', 's3:PutObject', 's3:AbortMultipartUpload'],
    [`\${Bucket.Arn}`, `\${Bucket.Arn}/*`],
  ),
  statement(['lambda:*'], OWN.functions),
  statement(['logs:*'], OWN.logGroup),
  statement(['cloudwatch:*'], OWN.alarms),
  statement(['secretsmanager:*'], OWN.secrets),
  statement(['dynamodb:*'], OWN.tables),
  statement(['sqs:*'], OWN.queues),
  statement(['scheduler:*'], OWN.schedules),
  // Event source mappings have no names. These act only on those of the stack's own function.
  statement(
    ['Create', 'Get', 'Update', 'Delete'].map((verb) => `lambda:${verb}EventSourceMapping`),
    ['*'],
    `ArnEquals: { lambda:FunctionArn: !Sub '${OWN.functions[1]}' }`,
  ),
  statement(
    ['lambda:ListTags', 'lambda:TagResource', 'lambda:UntagResource'],
    [arn('lambda', 'event-source-mapping:*')],
  ),
  statement(
    iam(
      ...['GetRole', 'GetRolePolicy', 'ListRolePolicies', 'ListAttachedRolePolicies', 'ListRoleTags'],
      ...[
        'UpdateRole',
        'UpdateRoleDescription',
        'UpdateAssumeRolePolicy',
        'TagRole',
        'UntagRole',
        'DeleteRole',
      ],
    ),
    OWN.roles,
  ),
  // Only roles that the boundary limits.
  statement(
    iam('CreateRole', 'PutRolePermissionsBoundary', 'PutRolePolicy', 'DeleteRolePolicy'),
    OWN.roles,
    'StringEquals: { iam:PermissionsBoundary: !Ref Boundary }',
  ),
  statement(
    iam('PassRole'),
    OWN.roles,
    'StringEquals: { iam:PassedToService: [lambda.amazonaws.com, scheduler.amazonaws.com] }',
  ),
]

/** API Gateway gives an API an id, not a name, so these act on each API of its kind in the region. */
const API_POLICIES = [
  { kind: 'rest-api', condition: 'HasRestApi', path: 'restapis' },
  { kind: 'http-api', condition: 'HasHttpApi', path: 'apis' },
].map(
  ({ kind, condition, path }) => `  ${condition.slice(3)}Policy:
    Type: AWS::IAM::RolePolicy
    Condition: ${condition}
    Properties:
      RoleName: !Ref Role
      PolicyName: ${kind}
      PolicyDocument:
        Version: '2012-10-17'
        Statement:
${indented(
  statement(
    ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].map((verb) => `apigateway:${verb}`),
    [
      arn('apigateway', `/${path}`, `\${AWS::Region}:`),
      arn('apigateway', `/${path}/*`, `\${AWS::Region}:`),
      arn('apigateway', '/tags/*', `\${AWS::Region}:`),
    ],
  ),
  10,
)}`,
)

/** Allows what `sam deploy` and the stack of `template.ts` need, also once it gets tasks or a schedule, for one stack. */
export function githubRole(name: string): string {
  return `AWSTemplateFormatVersion: '2010-09-09'
Description: Lets the workflow .github/workflows/deploy.yml deploy ${name}, without a stored key
# Run once, with your own login. Repository is your repository as in GitHub's token, with the ids of its owner and its own:
#   gh api repos/<owner>/<name> --jq '"\\(.owner.login)@\\(.owner.id)/\\(.name)@\\(.id)"'
#   aws cloudformation deploy --template-file aws/github-role.yaml --stack-name ${name}-github \\
#     --capabilities CAPABILITY_IAM --parameter-overrides Repository=<owner>@<its number>/<name>@<its number>
#   aws cloudformation describe-stacks --stack-name ${name}-github --query 'Stacks[0].Outputs'
# For a repository from before 2026-07-15 that was not renamed, transferred or opted in since, use <owner>/<name>; its OIDC settings show which:
# https://github.blog/changelog/2026-04-23-immutable-subject-claims-for-github-actions-oidc-tokens/
# An account has one provider for GitHub. If yours already has it, add ProviderArn=arn:aws:iam::<account>:oidc-provider/token.actions.githubusercontent.com
# For another stack, such as a stage, create the role again under another --stack-name, with Stack=${name}-staging Environment=staging.

Parameters:
  Repository:
    Type: String
    Description: As GitHub's token names it, owner@1234/name@5678, or owner/name for one from before 2026-07-15
    AllowedPattern: ^[\\w.-]+(@\\d+/[\\w.-]+@\\d+|/[\\w.-]+)$
  Environment:
    Type: String
    Default: production
    Description: The GitHub environment that may deploy. Its settings restrict which branches and tags may use it, by default all; forks cannot.
    AllowedPattern: ^[^:*?\${}]+$
  Stack:
    Type: String
    Default: ${name}
    Description: The only stack that the role may deploy
    AllowedPattern: ^[a-z][a-z0-9-]*$
    MaxLength: ${MAX_STACK_NAME}
  Endpoint:
    Type: String
    Default: function-url
    AllowedValues: [function-url, rest-api, http-api]
    Description: The stack's endpoint. For an API, the role may change every API of that kind in this region, since AWS cannot limit it to one.
  ProviderArn:
    Type: String
    Default: ''
    Description: ARN of the account's provider for GitHub. If empty, one is created.

Conditions:
  MakesProvider: !Equals [!Ref ProviderArn, '']
  HasRestApi: !Equals [!Ref Endpoint, rest-api]
  HasHttpApi: !Equals [!Ref Endpoint, http-api]

Resources:
  Provider:
    Type: AWS::IAM::OIDCProvider
    Condition: MakesProvider
    # Other roles of the account may use it.
    DeletionPolicy: Retain
    UpdateReplacePolicy: Retain
    Properties:
      Url: https://token.actions.githubusercontent.com
      ClientIdList: [sts.amazonaws.com]

  # For the packages. An update that fails goes back to an earlier one, so none expires.
  Bucket:
    Type: AWS::S3::Bucket
    DeletionPolicy: Retain
    UpdateReplacePolicy: Retain
    Properties:
      PublicAccessBlockConfiguration:
        BlockPublicAcls: true
        BlockPublicPolicy: true
        IgnorePublicAcls: true
        RestrictPublicBuckets: true

  # What the stack's roles may do at most. A server that needs more of AWS needs it here, too.
  Boundary:
    Type: AWS::IAM::ManagedPolicy
    Properties:
      PolicyDocument:
        Version: '2012-10-17'
        Statement:
${indented(BOUNDARY.join(''), 10)}
  Role:
    Type: AWS::IAM::Role
    Properties:
      MaxSessionDuration: 3600
      AssumeRolePolicyDocument:
        Version: '2012-10-17'
        Statement:
          - Effect: Allow
            Principal: { Federated: !If [MakesProvider, !Ref Provider, !Ref ProviderArn] }
            Action: sts:AssumeRoleWithWebIdentity
            Condition:
              StringEquals:
                token.actions.githubusercontent.com:aud: sts.amazonaws.com
                token.actions.githubusercontent.com:sub: !Sub repo:\${Repository}:environment:\${Environment}
      Policies:
        - PolicyName: deploy
          PolicyDocument:
            Version: '2012-10-17'
            Statement:
${indented(DEPLOY.join(''), 14)}
${API_POLICIES.join('\n')}
Outputs:
  RoleArn:
    Description: The variable AWS_ROLE_ARN of GitHub's environment
    Value: !GetAtt Role.Arn
  DeployOptions:
    Description: The variable AWS_DEPLOY_OPTIONS of GitHub's environment
    Value: !Sub '--s3-bucket \${Bucket} --parameter-overrides Boundary=\${Boundary}'
`
}

function statement(actions: readonly string[], resources: readonly string[], condition?: string): string {
  return `- Effect: Allow
  Action:
${actions.map((action) => `    - ${action}\n`).join('')}  Resource:
${resources.map((resource) => `    - ${resource === '*' ? "'*'" : `!Sub '${resource}'`}\n`).join('')}${condition === undefined ? '' : `  Condition:\n    ${condition}\n`}`
}

function indented(text: string, spaces: number): string {
  return text.replace(/^(?=.)/gm, ' '.repeat(spaces))
}
