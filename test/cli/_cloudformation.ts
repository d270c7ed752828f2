/** What CloudFormation makes of a template: its values for one stack, and the names and ARNs of its resources. */
import { isMap, isScalar, isSeq, type Node, parseDocument } from 'yaml'

export interface StackOptions {
  readonly name: string
  readonly parameters?: { readonly [name: string]: string }
}

export interface Resource {
  readonly id: string
  readonly type: string
  readonly properties: { readonly [name: string]: unknown }
  /** The name in the account, or what AWS has in its place. */
  readonly physical: string
  readonly arn: string
}

export interface Stack {
  readonly name: string
  readonly resources: readonly Resource[]
  readonly outputs: { readonly [name: string]: unknown }
}

export interface Template {
  readonly Parameters?: { readonly [name: string]: { readonly [property: string]: unknown } }
  readonly Conditions?: { readonly [name: string]: unknown }
  readonly Resources: {
    readonly [id: string]: {
      readonly Type: string
      readonly Condition?: string
      readonly Properties?: { readonly [name: string]: unknown }
    }
  }
  readonly Outputs?: { readonly [name: string]: { readonly Condition?: string; readonly Value: unknown } }
}

export const REGION = 'eu-west-1'
export const ACCOUNT = '123456789012'
const PSEUDO: { readonly [name: string]: string } = {
  'AWS::Partition': 'aws',
  'AWS::Region': REGION,
  'AWS::AccountId': ACCOUNT,
  'AWS::URLSuffix': 'amazonaws.com',
}
const NO_VALUE = Symbol('AWS::NoValue')

/** Short forms such as `!Sub` become the long ones. */
export function parseTemplate(text: string): Template {
  // Its warnings are about tags that YAML does not know.
  const document = parseDocument(text, { logLevel: 'silent' })
  if (document.errors.length > 0) throw document.errors[0]
  return toPlain(document.contents) as Template
}

function toPlain(node: Node | null): unknown {
  const value = isMap(node)
    ? Object.fromEntries(node.items.map((pair) => [String(pair.key), toPlain(pair.value as Node | null)]))
    : isSeq(node)
      ? node.items.map((item) => toPlain(item as Node))
      : isScalar(node)
        ? node.value
        : null
  const tag = node?.tag
  if (tag === undefined || !/^![A-Z]/.test(tag)) return value
  return { [tag === '!Ref' ? 'Ref' : `Fn::${tag.slice(1)}`]: value }
}

/**
 * Of SAM only what Mayfly's template uses: a function, and a queue that it reads. Throws at anything else, which the real translator knows
 * (test/platform-clis/sam.test.ts compares the two).
 */
export function withoutSam(template: Template): Template {
  const resources = Object.entries(template.Resources).flatMap(([id, resource]) => {
    if (resource.Type !== 'AWS::Serverless::Function') return [[id, resource] as const]
    const { Events = {}, ...properties } = resource.Properties as {
      Events?: { [name: string]: { Type: string; Properties: { Queue: unknown } } }
    }
    const mappings = Object.entries(Events).map(([name, { Type, Properties }]) => {
      if (Type !== 'SQS') throw new Error(`an event of type ${Type}: what does SAM make of it?`)
      const { Queue: EventSourceArn, ...others } = Properties
      const mapping = { ...others, EventSourceArn, FunctionName: { Ref: id } }
      return [`${id}${name}`, { Type: 'AWS::Lambda::EventSourceMapping', Properties: mapping }] as const
    })
    return [
      [id, { ...resource, Type: 'AWS::Lambda::Function', Properties: properties }] as const,
      ...mappings,
    ]
  })
  return { ...template, Resources: Object.fromEntries(resources) }
}

/** The resources whose conditions hold. Parameters have their defaults. Throws at anything that it cannot resolve. */
export function createStack(template: Template, { name, parameters = {} }: StackOptions): Stack {
  for (const given of Object.keys(parameters))
    if (template.Parameters?.[given] === undefined) throw new Error(`no parameter ${given}`)
  const named = (id: string): Resource => {
    const resource = template.Resources[id]
    if (resource === undefined) throw new Error(`no resource ${id}`)
    const properties = resolve(resource.Properties ?? {}) as Resource['properties']
    const kind = KINDS[resource.Type]
    if (kind === undefined) throw new Error(`${resource.Type}: what is its name, and its ARN?`)
    const physical = kind.physical(properties, { stack: name, id })
    return { id, type: resource.Type, properties, physical, arn: kind.arn(physical, properties) }
  }
  const reference = (to: string): unknown => {
    if (to === 'AWS::NoValue') return NO_VALUE
    if (to === 'AWS::StackName') return name
    if (PSEUDO[to] !== undefined) return PSEUDO[to]
    const parameter = template.Parameters?.[to]
    if (parameter === undefined) return named(to).physical
    const value = parameters[to] ?? parameter.Default
    if (value === undefined) throw new Error(`the parameter ${to} has no value`)
    return String(value)
  }
  const attribute = (path: string): unknown => {
    const [id = '', ...rest] = path.split('.')
    const { arn, physical } = named(id)
    return rest.join('.') === 'Arn' ? arn : rest.join('.') === 'QueueName' ? physical : `${id}.${rest}`
  }
  const holds = (condition: string | undefined): boolean =>
    condition === undefined || resolve(template.Conditions?.[condition]) === true
  const FUNCTIONS: { readonly [name: string]: (value: never) => unknown } = {
    Ref: (to: string) => reference(to),
    'Fn::GetAtt': (to: string | readonly string[]) => attribute([to].flat().join('.')),
    'Fn::Sub': (text: string) =>
      text.replace(/\$\{([^!}]+)\}/g, (_all, to: string) =>
        String(to.includes('.') ? attribute(to) : reference(to)),
      ),
    'Fn::If': ([condition, yes, no]: [string, unknown, unknown]) => resolve(holds(condition) ? yes : no),
    'Fn::Equals': ([one, other]: [unknown, unknown]) => resolve(one) === resolve(other),
    'Fn::Not': ([value]: [unknown]) => resolve(value) !== true,
    'Fn::Join': ([by, parts]: [string, unknown[]]) => parts.map(resolve).join(by),
  }
  function resolve(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(resolve).filter((item) => item !== NO_VALUE)
    if (typeof value !== 'object' || value === null) return value
    const entries = Object.entries(value)
    const [[key, inner] = ['', undefined]] = entries
    if (entries.length === 1 && (key === 'Ref' || key.startsWith('Fn::'))) {
      const apply = FUNCTIONS[key]
      if (apply === undefined) throw new Error(`${key}: not known here`)
      return apply(inner as never)
    }
    const resolved = entries.map(([name, item]) => [name, resolve(item)] as const)
    return Object.fromEntries(resolved.filter(([, item]) => item !== NO_VALUE))
  }
  const ids = Object.keys(template.Resources).filter((id) => holds(template.Resources[id]?.Condition))
  const outputs = Object.entries(template.Outputs ?? {}).filter(([, { Condition }]) => holds(Condition))
  return {
    name,
    resources: ids.map(named),
    outputs: Object.fromEntries(outputs.map(([key, { Value }]) => [key, resolve(Value)])),
  }
}

interface Kind {
  physical(properties: Resource['properties'], of: { stack: string; id: string }): string
  arn(physical: string, properties: Resource['properties']): string
}

const REGIONAL = `${REGION}:${ACCOUNT}`

/** Names that CloudFormation makes hold the stack's, which it shortens to fit. */
const ownName =
  (property: string, longest: number): Kind['physical'] =>
  (properties, { stack, id }) =>
    (properties[property] as string | undefined) ??
    `${stack.slice(0, longest - id.length - 15)}-${id}-ABCDEFGHIJKLM`

/** Resources without a name have an id that AWS makes. */
const anId: Kind['physical'] = (_properties, { stack, id }) => `${id}of${stack}`.toLowerCase()
const within = (path: (properties: Resource['properties'], id: string) => string): Kind => ({
  physical: anId,
  arn: (id, properties) => `arn:aws:apigateway:${REGION}::${path(properties, id)}`,
})
const ofFunction: Kind = { physical: anId, arn: (_id, properties) => functionArn(properties) }

function functionArn({ FunctionName, TargetFunctionArn }: Resource['properties']): string {
  const named = String(FunctionName ?? TargetFunctionArn)
  return named.startsWith('arn:') ? named : `arn:aws:lambda:${REGIONAL}:function:${named}`
}

const KINDS: { readonly [type: string]: Kind } = {
  'AWS::Lambda::Function': {
    physical: ownName('FunctionName', 64),
    arn: (name) => `arn:aws:lambda:${REGIONAL}:function:${name}`,
  },
  'AWS::Lambda::Url': ofFunction,
  'AWS::Lambda::Permission': ofFunction,
  'AWS::Lambda::EventSourceMapping': {
    physical: anId,
    arn: (id) => `arn:aws:lambda:${REGIONAL}:event-source-mapping:${id}`,
  },
  'AWS::Logs::LogGroup': {
    physical: ownName('LogGroupName', 512),
    arn: (name) => `arn:aws:logs:${REGIONAL}:log-group:${name}:*`,
  },
  'AWS::SecretsManager::Secret': {
    // Without the stack's name: that is how CloudFormation names them.
    physical: ({ Name }, { id }) => (Name as string | undefined) ?? `${id}-ABCDEFGHIJKLM`,
    arn: (name) => `arn:aws:secretsmanager:${REGIONAL}:secret:${name}-aB3dE6`,
  },
  'AWS::IAM::Role': {
    physical: ownName('RoleName', 64),
    arn: (name, { Path = '/' }) => `arn:aws:iam::${ACCOUNT}:role${Path}${name}`,
  },
  'AWS::IAM::ManagedPolicy': {
    // `Ref` is the ARN.
    physical: (_properties, { stack, id }) => `arn:aws:iam::${ACCOUNT}:policy/${stack}-${id}-ABCDEFGHIJKLM`,
    arn: (arn) => arn,
  },
  'AWS::IAM::RolePolicy': { physical: anId, arn: (_id, { RoleName }) => String(RoleName) },
  'AWS::IAM::OIDCProvider': {
    physical: () => `arn:aws:iam::${ACCOUNT}:oidc-provider/token.actions.githubusercontent.com`,
    arn: (arn) => arn,
  },
  'AWS::S3::Bucket': {
    physical: (_properties, { stack, id }) => `${stack}-${id}-abcdefghijkl`.toLowerCase(),
    arn: (name) => `arn:aws:s3:::${name}`,
  },
  'AWS::CloudWatch::Alarm': {
    physical: ownName('AlarmName', 255),
    arn: (name) => `arn:aws:cloudwatch:${REGIONAL}:alarm:${name}`,
  },
  'AWS::DynamoDB::Table': {
    physical: ownName('TableName', 255),
    arn: (name) => `arn:aws:dynamodb:${REGIONAL}:table/${name}`,
  },
  'AWS::SQS::Queue': {
    physical: ownName('QueueName', 80),
    arn: (name) => `arn:aws:sqs:${REGIONAL}:${name}`,
  },
  'AWS::Scheduler::Schedule': {
    physical: ownName('Name', 64),
    arn: (name, { GroupName = 'default' }) => `arn:aws:scheduler:${REGIONAL}:schedule/${GroupName}/${name}`,
  },
  'AWS::ApiGateway::RestApi': within((_properties, id) => `/restapis/${id}`),
  'AWS::ApiGateway::Resource': within(({ RestApiId }, id) => `/restapis/${RestApiId}/resources/${id}`),
  'AWS::ApiGateway::Method': within(
    ({ RestApiId, ResourceId }) => `/restapis/${RestApiId}/resources/${ResourceId}/methods/ANY`,
  ),
  'AWS::ApiGateway::Deployment': within(({ RestApiId }, id) => `/restapis/${RestApiId}/deployments/${id}`),
  'AWS::ApiGateway::Stage': within(
    ({ RestApiId, StageName }) => `/restapis/${RestApiId}/stages/${StageName}`,
  ),
  'AWS::ApiGatewayV2::Api': within((_properties, id) => `/apis/${id}`),
  'AWS::ApiGatewayV2::Integration': within(({ ApiId }, id) => `/apis/${ApiId}/integrations/${id}`),
  'AWS::ApiGatewayV2::Route': within(({ ApiId }, id) => `/apis/${ApiId}/routes/${id}`),
  'AWS::ApiGatewayV2::Stage': within(({ ApiId, StageName }) => `/apis/${ApiId}/stages/${StageName}`),
}
