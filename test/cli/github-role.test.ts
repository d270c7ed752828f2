/**
 * The role that GitHub's workflow takes on: it may do all that the stack's template needs, from the first deployment on, and nothing to
 * another stack. Checked by the logic of the IAM simulator, against the template that `build` writes.
 */
import { describe, expect, it, test } from 'vitest'
import { githubRole, MAX_STACK_NAME } from '../../deploy/targets/lambda/github-role.ts'
import { SECRETS_TEMPLATE, type TemplateOptions, template } from '../../deploy/targets/lambda/template.ts'
import {
  ACCOUNT,
  createStack,
  parseTemplate,
  REGION,
  type Resource,
  type Stack,
  withoutSam,
} from './_cloudformation.ts'
import { isAllowed, type Policy, type Request } from './_iam.ts'

const REPOSITORY = 'acme@1234/shop@5678'
const ENDPOINTS = ['function-url', 'rest-api', 'http-api'] as const
type Endpoint = (typeof ENDPOINTS)[number]

const EVERYTHING: TemplateOptions = {
  crons: [
    { path: '/tasks', schedule: '*/5 * * * *' },
    { path: '/events', schedule: '* * * * *' },
  ],
  hasTasks: true,
  tables: ['grants', 'events'],
}
const TOPIC = `arn:aws:sns:${REGION}:${ACCOUNT}:alarms`

interface Role {
  readonly boundary: string
  readonly may: (request: Request) => boolean
  /** What the stack's roles may do at most. */
  readonly mayRoles: (request: Request) => boolean
  readonly policies: readonly Policy[]
  readonly bucket: string
}

function createRole(stack = 'shop', endpoint: Endpoint = 'function-url'): Role {
  const { resources } = createStack(parseTemplate(githubRole('shop')), {
    name: `${stack}-github`,
    parameters: { Repository: REPOSITORY, Stack: stack, Endpoint: endpoint },
  })
  const documents = resources.flatMap(({ properties: { Policies = [], PolicyDocument }, type }) => [
    ...(Policies as { PolicyDocument: Policy }[]).map((policy) => policy.PolicyDocument),
    ...(type === 'AWS::IAM::RolePolicy' ? [PolicyDocument as Policy] : []),
  ])
  const boundary = resources.find(({ type }) => type === 'AWS::IAM::ManagedPolicy')!
  return {
    policies: documents,
    boundary: boundary.arn,
    may: (request) => isAllowed(documents, request),
    mayRoles: (request) => isAllowed([boundary.properties.PolicyDocument as Policy], request),
    bucket: resources.find(({ type }) => type === 'AWS::S3::Bucket')!.arn,
  }
}

function deployed(name: string, endpoint: Endpoint, options = EVERYTHING, boundary = ''): Stack {
  const parameters = { Endpoint: endpoint, AlarmTopic: TOPIC, Boundary: boundary }
  return createStack(withoutSam(parseTemplate(template(options))), { name, parameters })
}

/**
 * What CloudFormation's handlers of each type call with the properties that the template sets: to create, read, change and delete.
 * https://github.com/pulumi/pulumi-aws-native/tree/master/aws-cloudformation-schema ("handlers"); Permission has none, so AWS Lambda's API.
 */
const HANDLERS: { readonly [type: string]: readonly string[] } = {
  'AWS::Lambda::Function': [
    ...['CreateFunction', 'GetFunction', 'GetFunctionConfiguration', 'GetFunctionCodeSigningConfig'],
    ...[
      'PutFunctionConcurrency',
      'DeleteFunctionConcurrency',
      'UpdateFunctionCode',
      'UpdateFunctionConfiguration',
    ],
    ...[
      'GetRuntimeManagementConfig',
      'GetFunctionRecursionConfig',
      'ListTags',
      'TagResource',
      'UntagResource',
    ],
    'DeleteFunction',
  ].map((name) => `lambda:${name}`),
  'AWS::Lambda::Url': ['Create', 'Get', 'Update', 'Delete'].map((verb) => `lambda:${verb}FunctionUrlConfig`),
  'AWS::Lambda::Permission': ['lambda:AddPermission', 'lambda:GetPolicy', 'lambda:RemovePermission'],
  'AWS::Lambda::EventSourceMapping': [
    ...['Create', 'Get', 'Update', 'Delete'].map((verb) => `lambda:${verb}EventSourceMapping`),
    ...['lambda:ListTags', 'lambda:TagResource', 'lambda:UntagResource'],
  ],
  'AWS::Logs::LogGroup': [
    ...['CreateLogGroup', 'PutRetentionPolicy', 'DeleteRetentionPolicy', 'DescribeLogGroups', 'TagResource'],
    ...['UntagResource', 'ListTagsForResource', 'GetDataProtectionPolicy', 'DeleteLogGroup'],
  ].map((name) => `logs:${name}`),
  'AWS::SecretsManager::Secret': [
    ...[
      'CreateSecret',
      'DescribeSecret',
      'GetRandomPassword',
      'GetSecretValue',
      'UpdateSecret',
      'DeleteSecret',
    ],
    ...['TagResource', 'UntagResource'],
  ].map((name) => `secretsmanager:${name}`),
  'AWS::IAM::Role': [
    ...[
      'CreateRole',
      'GetRole',
      'UpdateRole',
      'UpdateRoleDescription',
      'UpdateAssumeRolePolicy',
      'DeleteRole',
    ],
    ...['PutRolePolicy', 'GetRolePolicy', 'DeleteRolePolicy', 'ListRolePolicies', 'ListAttachedRolePolicies'],
    ...['PutRolePermissionsBoundary', 'TagRole', 'UntagRole', 'PassRole'],
  ].map((name) => `iam:${name}`),
  'AWS::CloudWatch::Alarm': [
    ...[
      'PutMetricAlarm',
      'DescribeAlarms',
      'TagResource',
      'UntagResource',
      'ListTagsForResource',
      'DeleteAlarms',
    ],
  ].map((name) => `cloudwatch:${name}`),
  'AWS::DynamoDB::Table': [
    ...[
      'CreateTable',
      'DescribeTable',
      'UpdateTable',
      'UpdateTimeToLive',
      'DescribeTimeToLive',
      'DeleteTable',
    ],
    ...['DescribeContributorInsights', 'DescribeContinuousBackups', 'DescribeKinesisStreamingDestination'],
    ...['ListTagsOfResource', 'TagResource', 'UntagResource', 'GetResourcePolicy'],
  ].map((name) => `dynamodb:${name}`),
  'AWS::SQS::Queue': [
    ...[
      'CreateQueue',
      'GetQueueUrl',
      'GetQueueAttributes',
      'SetQueueAttributes',
      'ListQueueTags',
      'DeleteQueue',
    ],
    ...['TagQueue', 'UntagQueue'],
  ].map((name) => `sqs:${name}`),
  'AWS::Scheduler::Schedule': ['Create', 'Get', 'Update', 'Delete'].map(
    (verb) => `scheduler:${verb}Schedule`,
  ),
  ...Object.fromEntries(
    [
      '::RestApi',
      '::Resource',
      '::Method',
      '::Deployment',
      '::Stage',
      'V2::Api',
      'V2::Integration',
      'V2::Route',
      'V2::Stage',
    ].map((type) => [
      `AWS::ApiGateway${type}`,
      ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].map((verb) => `apigateway:${verb}`),
    ]),
  ),
}

/** Not limited to one stack, since AWS cannot: each reads what is not secret, makes random text, or is about tags of a mapping. */
const FOR_ALL = new Set([
  'cloudwatch:DescribeAlarms',
  'logs:DescribeLogGroups',
  'secretsmanager:GetRandomPassword',
  ...['ListTags', 'TagResource', 'UntagResource'].map((name) => `lambda:${name} of a mapping`),
])

/** What CloudFormation asks for one resource of a stack. `boundary`: that of the role that it creates. */
function requestsFor(
  { type, arn, properties }: Resource,
  boundary: string,
): (Request & { isForAll: boolean })[] {
  const actions = HANDLERS[type]
  if (actions === undefined) throw new Error(`${type}: what do its handlers call?`)
  const isMapping = type === 'AWS::Lambda::EventSourceMapping'
  const principal = /"Service":"([^"]+)"/.exec(JSON.stringify(properties.AssumeRolePolicyDocument ?? ''))?.[1]
  return actions.map((action) => {
    const context: { [key: string]: string } = {}
    if (action.endsWith('EventSourceMapping'))
      context['lambda:FunctionArn'] =
        `arn:aws:lambda:${REGION}:${ACCOUNT}:function:${properties.FunctionName}`
    if (action.startsWith('iam:')) context['iam:PermissionsBoundary'] = boundary
    if (action === 'iam:PassRole') context['iam:PassedToService'] = principal!
    return {
      action,
      // Calls for tags name a log group without its streams.
      resource: FOR_ALL.has(action)
        ? '*'
        : action.startsWith('logs:') && /Tag/.test(action)
          ? arn.replace(/:\*$/, '')
          : arn,
      context,
      isForAll: FOR_ALL.has(isMapping ? `${action} of a mapping` : action),
    }
  })
}

const STORE = (name: string): Resource =>
  createStack(parseTemplate(SECRETS_TEMPLATE), {
    name: `${name}-secrets`,
    parameters: { StoreName: `${name}-secrets` },
  }).resources[0]!

describe('the role may do all that the template needs', () => {
  test.for(ENDPOINTS)('%s: each resource, with tasks, a schedule and alarms', (endpoint) => {
    for (const name of ['shop', 'a', 'x'.repeat(MAX_STACK_NAME)]) {
      const { may, boundary } = createRole(name, endpoint)
      const { resources } = deployed(name, endpoint, EVERYTHING, boundary)
      const refused = [...resources, STORE(name)]
        .flatMap((resource) => requestsFor(resource, boundary))
        .filter((request) => !may(request))
      expect(refused).toEqual([])
    }
  })

  it('deploys the stack and that of its secrets, and uploads to its own bucket', () => {
    const { may, bucket } = createRole()
    for (const stack of ['shop', 'shop-secrets'])
      for (const action of [
        'CreateChangeSet',
        'DescribeChangeSet',
        'ExecuteChangeSet',
        'DescribeStacks',
        'DescribeStackEvents',
      ])
        expect(
          may({
            action: `cloudformation:${action}`,
            resource: `arn:aws:cloudformation:${REGION}:${ACCOUNT}:stack/${stack}/0f0f`,
          }),
        ).toBe(true)
    const transform = `arn:aws:cloudformation:${REGION}:aws:transform/Serverless-2016-10-31`
    expect(may({ action: 'cloudformation:CreateChangeSet', resource: transform })).toBe(true)
    for (const action of ['s3:PutObject', 's3:GetObject'])
      expect(may({ action, resource: `${bucket}/0123abcd` })).toBe(true)
  })

  it('stores the secrets, and reads the outputs', () => {
    const { may } = createRole()
    expect(may({ action: 'secretsmanager:PutSecretValue', resource: STORE('shop').arn })).toBe(true)
  })
})

describe('the role may not touch another stack', () => {
  const OTHERS = [
    'other',
    'shop-staging',
    'shop2',
    'sho',
    'my-shop',
    'shop-generated',
    'shop-tasks',
    'shop-function',
  ]

  test.for(OTHERS)('%s: none of its resources, with its boundary or that of the other', (name) => {
    const { may, boundary } = createRole()
    const theirs = createRole(name)
    for (const endpoint of ENDPOINTS) {
      const { resources } = deployed(name, endpoint)
      const allowed = [boundary, theirs.boundary]
        .flatMap((limit) => [...resources, STORE(name)].flatMap((resource) => requestsFor(resource, limit)))
        .filter((request) => !request.isForAll && may(request))
      expect(allowed).toEqual([])
    }
    expect(
      may({
        action: 'cloudformation:CreateChangeSet',
        resource: `arn:aws:cloudformation:${REGION}:${ACCOUNT}:stack/${name}/0f0f`,
      }),
    ).toBe(false)
    expect(may({ action: 's3:GetObject', resource: `${theirs.bucket}/0123abcd` })).toBe(false)
  })

  it.each([
    ['sts:AssumeRole', `arn:aws:iam::${ACCOUNT}:role/admin`],
    ['iam:CreateUser', `arn:aws:iam::${ACCOUNT}:user/mayfly/shop/me`],
    ['iam:CreatePolicyVersion', createRole().boundary],
    ['iam:DeletePolicy', createRole().boundary],
    ['iam:DeleteRolePermissionsBoundary', `arn:aws:iam::${ACCOUNT}:role/mayfly/shop/shop-Role-X`],
    ['iam:AttachRolePolicy', `arn:aws:iam::${ACCOUNT}:role/mayfly/shop/shop-Role-X`],
    ['s3:PutObject', 'arn:aws:s3:::aws-sam-cli-managed-default-samclisourcebucket-abc/key'],
    ['s3:DeleteBucket', createRole().bucket],
    [
      'secretsmanager:GetSecretValue',
      `arn:aws:secretsmanager:${REGION}:${ACCOUNT}:secret:Secret-ABCDEFGHIJKLM-aB3dE6`,
    ],
    ['secretsmanager:ListSecrets', '*'],
    ['apigateway:GET', `arn:aws:apigateway:${REGION}::/restapis`],
    ['apigateway:DELETE', `arn:aws:apigateway:${REGION}::/apis/abc`],
    ['lambda:ListFunctions', '*'],
    ['cloudformation:CreateStack', `arn:aws:cloudformation:${REGION}:${ACCOUNT}:stack/shop-github/0f0f`],
  ])('%s on %s: refused', (action, resource) => {
    expect(createRole().may({ action, resource })).toBe(false)
  })

  it('a role of the stack without the boundary cannot be made, changed, or handed to another service', () => {
    const { may, boundary } = createRole()
    const resource = `arn:aws:iam::${ACCOUNT}:role/mayfly/shop/shop-Role-X`
    for (const action of ['iam:CreateRole', 'iam:PutRolePolicy', 'iam:PutRolePermissionsBoundary']) {
      expect(may({ action, resource })).toBe(false)
      const context = { 'iam:PermissionsBoundary': `arn:aws:iam::${ACCOUNT}:policy/other` }
      expect(may({ action, resource, context })).toBe(false)
      expect(may({ action, resource, context: { 'iam:PermissionsBoundary': boundary } })).toBe(true)
    }
    const passed = { 'iam:PassedToService': 'ec2.amazonaws.com' }
    expect(may({ action: 'iam:PassRole', resource, context: passed })).toBe(false)
  })

  it('an API of one kind does not open the other kind', () => {
    const { may } = createRole('shop', 'http-api')
    expect(may({ action: 'apigateway:GET', resource: `arn:aws:apigateway:${REGION}::/apis` })).toBe(true)
    expect(may({ action: 'apigateway:GET', resource: `arn:aws:apigateway:${REGION}::/restapis` })).toBe(false)
  })

  it('no statement allows every action, or a service’s every resource beyond those that AWS cannot limit', () => {
    const statements = createRole('shop').policies.flatMap(({ Statement }) => Statement)
    for (const { Action, Resource, Condition } of statements) {
      expect([Action].flat()).not.toContain('*')
      if (![Resource].flat().includes('*')) continue
      if (Condition === undefined)
        for (const action of [Action].flat()) expect(action).toMatch(/:(?:Describe|Get|Validate)[A-Z]\w+$/)
    }
  })
})

describe('the boundary', () => {
  it('allows what the template’s roles have, and no more of AWS', () => {
    const { mayRoles } = createRole('shop')
    const roles = deployed('shop', 'function-url').resources.filter(({ type }) => type === 'AWS::IAM::Role')
    expect(roles.map(({ id }) => id).sort()).toEqual(['CronRole', 'Role'])
    for (const { properties } of roles)
      for (const { PolicyDocument } of properties.Policies as { PolicyDocument: Policy }[])
        for (const { Action, Resource } of PolicyDocument.Statement)
          for (const action of [Action].flat())
            for (const resource of [Resource].flat())
              expect([action, resource, mayRoles({ action, resource })]).toEqual([action, resource, true])
  })

  it.each([
    ['iam:CreateRole', `arn:aws:iam::${ACCOUNT}:role/mayfly/shop/x`],
    ['secretsmanager:GetSecretValue', STORE('shop').arn],
    ['dynamodb:Scan', `arn:aws:dynamodb:${REGION}:${ACCOUNT}:table/other-Tasks-X`],
    ['lambda:UpdateFunctionCode', `arn:aws:lambda:${REGION}:${ACCOUNT}:function:shop-Function`],
    ['s3:GetObject', 'arn:aws:s3:::any/key'],
  ])('%s on %s: refused', (action, resource) => {
    expect(createRole().mayRoles({ action, resource })).toBe(false)
  })

  it('is on every role of the stack, if the stack is given one', () => {
    const { boundary } = createRole()
    const roles = deployed('shop', 'function-url', EVERYTHING, boundary).resources.filter(
      ({ type }) => type === 'AWS::IAM::Role',
    )
    for (const { properties } of roles) expect(properties.PermissionsBoundary).toBe(boundary)
    for (const { type, properties } of deployed('shop', 'function-url').resources)
      if (type === 'AWS::IAM::Role') expect(properties).not.toHaveProperty('PermissionsBoundary')
  })
})

it('the policies are short enough for one role: 10,240 characters without white space', () => {
  for (const endpoint of ENDPOINTS) {
    const { policies } = createRole('x'.repeat(MAX_STACK_NAME), endpoint)
    const size = policies.reduce((sum, policy) => sum + JSON.stringify(policy).length, 0)
    // Longer names of a partition, a region and an account's ids need some more.
    expect(size).toBeLessThan(9_700)
  }
})

it('the workflow hands over the bucket and the boundary that the role allows', () => {
  const parameters = { Repository: REPOSITORY }
  const { outputs } = createStack(parseTemplate(githubRole('shop')), { name: 'shop-github', parameters })
  const { bucket, boundary } = createRole()
  expect(outputs.DeployOptions).toBe(
    `--s3-bucket ${bucket.replace('arn:aws:s3:::', '')} --parameter-overrides Boundary=${boundary}`,
  )
})

it.each(['Shop', 'shop*', 'shop?', '', 'x'.repeat(MAX_STACK_NAME + 1), '-shop'])(
  'the role is for one stack, which %j is not',
  (name) => {
    const { Parameters } = parseTemplate(githubRole('shop'))
    const { AllowedPattern, MaxLength } = Parameters!.Stack!
    const fits = new RegExp(AllowedPattern as string).test(name) && name.length <= (MaxLength as number)
    expect(fits).toBe(false)
  },
)

describe('names', () => {
  const OPTIONS: readonly TemplateOptions[] = [
    {},
    { hasTasks: true },
    { tables: ['grants'] },
    { tables: ['events'] },
    { crons: [{ path: '/tasks', schedule: '* * * * *' }] },
    EVERYTHING,
  ]
  const KINDS = ENDPOINTS.flatMap((endpoint) =>
    OPTIONS.map((options) => ({
      endpoint,
      ...options,
    })),
  )

  it.each(KINDS)('two stacks in one account share none: %j', ({ endpoint, ...options }) => {
    const names = ['shop', 'shop-staging'].map((name) =>
      deployed(name, endpoint, options).resources.map(({ arn, id, type }) => ({ arn, id, type })),
    )
    const [first = [], second = []] = names
    expect(first.length).toBeGreaterThan(4)
    for (const { arn, type, id } of first) expect([id, type, second.map((one) => one.arn)]).not.toContain(arn)
    expect(first.filter(({ arn }) => second.some((one) => one.arn === arn))).toEqual([])
  })

  it('each name that the template gives holds the stack’s', () => {
    const { resources } = deployed('a-stack', 'rest-api')
    const given = resources.flatMap(({ id, properties }) =>
      Object.entries(properties)
        .filter(
          ([key, value]) =>
            /^(?:Name|Path|(?:Function|LogGroup|Queue|Alarm|Role|Table)Name)$/.test(key) &&
            typeof value === 'string' &&
            value !== id,
        )
        .map(([key, value]) => [id, key, value]),
    )
    expect(given.length).toBeGreaterThan(15)
    for (const [id, key, value] of given)
      expect([id, key, String(value).includes('a-stack')]).toEqual([id, key, true])
  })

  it('the longest name of a stack fits everywhere', () => {
    const { resources } = deployed('x'.repeat(MAX_STACK_NAME), 'function-url')
    const longest: { [key: string]: number } = { FunctionName: 64, QueueName: 80, Name: 64 }
    for (const { id, properties } of resources)
      for (const [key, limit] of Object.entries(longest))
        if (typeof properties[key] === 'string')
          expect([id, properties[key].length <= limit]).toEqual([id, true])
  })
})

describe('the matcher', () => {
  const allow = (Action: string, Resource: string, Condition?: object): Policy =>
    ({ Statement: [{ Effect: 'Allow', Action, Resource, ...(Condition && { Condition }) }] }) as Policy
  const deny: Policy = { Statement: [{ Effect: 'Deny', Action: 's3:*', Resource: '*' }] }

  it.each<[string, boolean, Policy[], Request]>([
    ['nothing is allowed by nothing', false, [], { action: 's3:GetObject', resource: 'a' }],
    ['* spans slashes', true, [allow('s3:*', 'a/*')], { action: 's3:GetObject', resource: 'a/b/c' }],
    ['? is one character', false, [allow('s3:*', 'a-??')], { action: 's3:GetObject', resource: 'a-bcd' }],
    ['. is itself', false, [allow('s3:*', 'a.b')], { action: 's3:GetObject', resource: 'axb' }],
    ['case of an action', true, [allow('S3:getobject', 'a')], { action: 's3:GetObject', resource: 'a' }],
    ['case of a resource', false, [allow('s3:GetObject', 'A')], { action: 's3:GetObject', resource: 'a' }],
    ['a denial wins', false, [allow('s3:*', '*'), deny], { action: 's3:GetObject', resource: 'a' }],
    [
      'a condition without its key',
      false,
      [allow('s3:*', '*', { StringEquals: { k: 'v' } })],
      { action: 's3:GetObject', resource: 'a' },
    ],
    [
      'one of several values',
      true,
      [allow('s3:*', '*', { StringEquals: { k: ['u', 'v'] } })],
      { action: 's3:GetObject', resource: 'a', context: { k: 'v' } },
    ],
  ])('%s: %s', (_name, expected, policies, request) => {
    expect(isAllowed(policies, request)).toBe(expected)
  })

  it('a condition or an element that it does not know → an error, never allowed', () => {
    const request = { action: 's3:GetObject', resource: 'a', context: { k: 'v' } }
    expect(() => isAllowed([allow('s3:*', '*', { Bool: { k: 'v' } })], request)).toThrow('Bool')
    const policy = { Statement: [{ Effect: 'Allow', NotAction: 's3:*', Resource: '*' }] }
    expect(() => isAllowed([policy as unknown as Policy], request)).toThrow('NotAction')
  })
})
