/** What is deployed, and how: the package, the templates, and the commands that take them to AWS. */
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { RegoEngine, TemplateFile } from '@aws/cloudformation-validate'
import { unzipSync } from 'fflate'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Deployment, Project } from '../../../deploy/contract/target.ts'
import { buildInto } from '../../../deploy/targets/build-into.ts'
import { githubRole } from '../../../deploy/targets/lambda/github-role.ts'
import { lambda } from '../../../deploy/targets/lambda/target.ts'
import { SECRETS_TEMPLATE, type TemplateOptions, template } from '../../../deploy/targets/lambda/template.ts'
import { createStack, parseTemplate, withoutSam } from '../../cli/_cloudformation.ts'

const project: Project = {
  cwd: import.meta.dirname,
  entry: join(import.meta.dirname, 'fixture.ts'),
  name: 'shop',
}

const at = (schedule: string) => [{ path: '/tasks', schedule }]

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'mayfly-lambda-deployment-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('the package', () => {
  /** In the zip's directory, as Unix has it. */
  const fileMode = (zip: Buffer): number => zip.readUInt32LE(zip.indexOf('PK\x01\x02') + 38) >>> 16

  it('holds the bundle, its program first, readable for all, and is the same whenever and wherever it is built', async () => {
    const [first, second] = [join(folder, 'first'), join(folder, 'second')]

    await buildInto(lambda, project, first)
    vi.stubEnv('TZ', 'Pacific/Kiritimati')
    const artefact = await buildInto(lambda, project, second)
    vi.unstubAllEnvs()

    const zip = readFileSync(join(second, artefact.main))
    expect(zip.equals(readFileSync(join(first, 'function.zip')))).toBe(true)
    const [main, ...parts] = Object.keys(unzipSync(zip))
    expect(main).toBe('index.mjs')
    expect(parts.filter((name) => !/^[\w.-]+-[A-Z\d]{8}\.mjs$/.test(name))).toEqual([])
    expect(fileMode(zip).toString(8)).toBe('100644')
    expect(artefact.size.gzip).toBe(zip.byteLength)
  })
})

describe('the templates', () => {
  /** The engine evaluates no conditions: it would check the empty default of Boundary where it is not used. */
  const BOUNDARY = { Boundary: 'arn:aws:iam::123456789012:policy/shop-boundary' }

  function faults(template: string, given: Record<string, string> = {}): string[] {
    const parameterOverrides = {
      ...(/^ {2}Boundary:\n {4}Type: String/m.test(template) && BOUNDARY),
      ...given,
    }
    const file = join(folder, 'template.yaml')
    writeFileSync(file, template)
    const engine = new RegoEngine()
    try {
      const { diagnostics } = engine.validateStandard(new TemplateFile(file), { parameterOverrides })
      return diagnostics
        .filter(({ severity }) => severity !== 'INFO' && severity !== 'DEBUG')
        .map(({ ruleId, message }) => `${ruleId}: ${message}`)
    } finally {
      engine.free()
    }
  }

  it.each([
    {},
    { Endpoint: 'http-api' },
    { Endpoint: 'rest-api', TimeoutSeconds: '900' },
    { AlarmTopic: 'arn:aws:sns:eu-west-1:123456789012:alarms' },
    { StoredVariables: 'shop-secrets', StoredVersion: 'v', MaxConcurrency: '5', TimeoutSeconds: '900' },
  ])('valid with %j', (parameters) => {
    expect(faults(template(), parameters)).toEqual([])
  })

  it.each<TemplateOptions>([
    { hasTasks: true },
    { tables: ['grants'] },
    { tables: ['events'] },
    {
      crons: [...at('* * * * *'), { path: '/events', schedule: '0 3 * * *' }],
      hasTasks: true,
      tables: ['grants', 'events'],
    },
    { crons: at('*/5 8-18 * * 1-5') },
    { crons: at('0 3 1 * *') },
  ])('valid with %j', (options) => {
    expect(faults(template(options))).toEqual([])
  })

  it.each([
    ['* * * * *', 'rate(1 minute)'],
    ['*/5 * * * *', 'cron(*/5 * * * ? *)'],
    ['0 3 1 * *', 'cron(0 3 1 * ? *)'],
    ['30 8-18 * * 1-5', 'cron(30 8-18 ? * MON,TUE,WED,THU,FRI *)'],
    ['0 0 * * 0,7', 'cron(0 0 ? * SUN *)'],
    ['0 3 * * */2', 'cron(0 3 ? * SUN,TUE,THU,SAT *)'],
    ['0 3 * * 5-7', 'cron(0 3 ? * FRI,SAT,SUN *)'],
  ])('the schedule %s is %s there', (schedule, expression) => {
    expect(template({ crons: at(schedule) })).toContain(`ScheduleExpression: ${expression}\n`)
  })

  it('each path has a schedule, and the function is told which one', () => {
    const crons = [...at('* * * * *'), { path: '/events', schedule: '0 3 * * *' }]
    const { Resources } = parseTemplate(template({ crons }))
    const schedules = Object.values(Resources).filter(({ Type }) => Type === 'AWS::Scheduler::Schedule')
    expect(schedules.map(({ Properties }) => Properties)).toMatchObject([
      { ScheduleExpression: 'rate(1 minute)', Target: { Arn: { 'Fn::GetAtt': 'CronFunction.Arn' } } },
      { ScheduleExpression: 'cron(0 3 * * ? *)', Target: { Input: '{"path":"/events"}' } },
    ])
    expect(new Set(schedules.map(({ Properties }) => JSON.stringify(Properties!.Name))).size).toBe(2)
  })

  it('a schedule that AWS cannot say is refused', () => {
    expect(() => template({ crons: at('0 0 1 * 1') })).toThrow(/a day of the month and a day of the week/)
  })

  it('the store of secrets is valid', () => {
    expect(faults(SECRETS_TEMPLATE)).toEqual([])
  })

  it('the role that GitHub takes on is valid, and is the workflow’s environment’s alone', () => {
    for (const Endpoint of ['function-url', 'rest-api', 'http-api'])
      expect(faults(githubRole('shop'), { Repository: 'acme@123456/shop@456789', Endpoint })).toEqual([])
    expect(githubRole('shop')).toMatch(/:sub: !Sub repo:\$\{Repository\}:environment:\$\{Environment\}\n/)
    expect(
      faults(githubRole('shop').replace('Type: AWS::IAM::OIDCProvider', 'Type: AWS::IAM::Oidc')),
    ).not.toEqual([])
  })

  it.each([
    ['acme@123456/shop@456789', true],
    ['acme/shop', true],
    ['acme@123456/shop', false],
    ['acme/*', false],
    ['acme/shop:ref', false],
  ])('the role takes the repository %s: %s', (repository, isTaken) => {
    const [, pattern = ''] = /AllowedPattern: (.*)/.exec(githubRole('shop')) ?? []
    expect(new RegExp(pattern).test(repository)).toBe(isTaken)
  })

  it('a deployment of the REST API has another id once its routes change, and they depend on no parameter', () => {
    const { Parameters, Resources } = parseTemplate(template())
    const routes = Object.entries(Resources).filter(([, { Type }]) =>
      /^AWS::ApiGateway::(?:Resource|Method)$/.test(Type),
    )
    expect(routes).toHaveLength(2)
    for (const parameter of Object.keys(Parameters!)) expect(JSON.stringify(routes)).not.toContain(parameter)

    const text = template()
    const lines = text.slice(text.indexOf('  RestPath:\n'), text.indexOf('  RestDeployment'))
    const digest = createHash('sha256').update(lines).digest('hex').slice(0, 10)
    expect(Resources).toHaveProperty(`RestDeployment${digest}`)
    expect(text).toContain(`DeploymentId: !Ref RestDeployment${digest}\n`)
  })

  it('a message for tasks that cannot be handled ends in a queue of its own', () => {
    const { Resources } = parseTemplate(template({ hasTasks: true }))
    expect(Resources.TasksQueue!.Properties!.RedrivePolicy).toEqual({
      deadLetterTargetArn: { 'Fn::GetAtt': 'TasksDeadLetters.Arn' },
      // AWS recommends at least five.
      maxReceiveCount: 100,
    })
    expect(Resources.TasksDeadLetters!.Type).toBe('AWS::SQS::Queue')
  })

  it.each([
    [{}],
    [{ hasTasks: true }],
    [{ crons: at('* * * * *') }],
    [{ crons: at('* * * * *'), hasTasks: true }],
  ])('alarms on every function and dead letters, only with a topic: %j', (options) => {
    const parsed = withoutSam(parseTemplate(template(options)))
    const alarmsWith = (AlarmTopic: string) =>
      createStack(parsed, { name: 'shop', parameters: { AlarmTopic } }).resources.filter(
        ({ type }) => type === 'AWS::CloudWatch::Alarm',
      )
    expect(alarmsWith('')).toEqual([])
    const watched = alarmsWith('arn:aws:sns:eu-west-1:123456789012:alarms').map(({ properties }) => {
      const [{ Value } = { Value: '' }] = properties.Dimensions as { Value: string }[]
      return `${properties.MetricName} of ${Value}`
    })
    const { resources } = createStack(parsed, { name: 'shop' })
    const functions = resources.filter(({ type }) => type === 'AWS::Lambda::Function')
    const expected = functions.flatMap(({ physical }) => [
      `Throttles of ${physical}`,
      `Errors of ${physical}`,
    ])
    if ('hasTasks' in options) expected.push('ApproximateNumberOfMessagesVisible of shop-TasksDeadLetters')
    expect(watched.sort()).toEqual(expected.sort())
  })

  it('a misspelt property is a fault', () => {
    expect(faults(template().replace('InvokedViaFunctionUrl', 'InvokedViaUrl'))).not.toEqual([])
    expect(faults(template().replace('InvokeMode: RESPONSE_STREAM', 'InvokeMode: STREAM'))).not.toEqual([])
    expect(faults(template().replace('!GetAtt Role.Arn', '!GetAtt Roll.Arn'))).not.toEqual([])
    expect(
      faults(template().replace('ResponseTransferMode: STREAM', 'ResponseTransferMode: MAYBE')),
    ).not.toEqual([])
  })

  it('the role may write its own log and nothing else', () => {
    const policies = template().slice(template().indexOf('Policies:'), template().indexOf('  Url:'))

    expect(policies.match(/Action: .*/g)).toEqual(['Action: [logs:CreateLogStream, logs:PutLogEvents]'])
    expect(policies.match(/Resource: .*/g)).toEqual(['Resource: !GetAtt LogGroup.Arn'])
    expect(template()).not.toContain('ManagedPolicyArns')
  })
})

describe('the commands', () => {
  const deploymentOf = (secrets: Record<string, string>, extra: string[] = []): Deployment =>
    lambda.deployment('/out', project, { secrets: new Map(Object.entries(secrets)), extra })

  it('without secrets: sam deploy, which asks nothing', () => {
    const { steps } = deploymentOf({})

    expect(steps).toEqual([
      {
        title: expect.any(String),
        command: 'sam',
        args: [
          'deploy',
          '--template-file',
          '/out/template.yaml',
          '--stack-name',
          'shop',
          '--resolve-s3',
          '--capabilities',
          'CAPABILITY_IAM',
          '--no-confirm-changeset',
          '--no-fail-on-empty-changeset',
        ],
        cwd: project.cwd,
      },
    ])
  })

  it('secrets are stored first, by stdin, and the function is deployed with that very version', () => {
    const { steps } = deploymentOf({ API_KEY: 'hush-hush', MAYFLY_SECRET: 'hush"again' })

    const [make, store, upload] = steps
    expect(steps).toHaveLength(3)
    expect(make!.args).toContain('/out/secrets.yaml')
    const sent = JSON.parse(store!.stdin!) as {
      SecretId: string
      ClientRequestToken: string
      SecretString: string
    }
    expect(sent.SecretId).toBe('shop-secrets')
    expect(sent.ClientRequestToken.length).toBeGreaterThanOrEqual(32)
    expect(JSON.parse(sent.SecretString)).toEqual({ API_KEY: 'hush-hush', MAYFLY_SECRET: 'hush"again' })
    const merged = JSON.parse(
      store!.stdinFrom!.make('"{\\"OTHER\\":\\"stays\\",\\"API_KEY\\":\\"old\\"}"'),
    ) as typeof sent
    expect(merged.ClientRequestToken).toBe(sent.ClientRequestToken)
    expect(JSON.parse(merged.SecretString)).toEqual({
      ...(JSON.parse(sent.SecretString) as object),
      OTHER: 'stays',
    })
    expect(() => store!.stdinFrom!.make(undefined)).toThrow('shop-secrets cannot be read')
    expect(upload!.args.slice(-3)).toEqual([
      '--parameter-overrides',
      'StoredVariables=shop-secrets',
      `StoredVersion=${sent.ClientRequestToken}`,
    ])
    expect(JSON.stringify(steps.map(({ args, env, title }) => [args, env, title]))).not.toContain('hush')
  })

  it('parameters of one’s own are one list with ours, which SAM reads once', () => {
    const extra = [
      '--region',
      'eu-north-1',
      '--parameter-overrides',
      'Endpoint=http-api',
      'TimeoutSeconds=20',
      '--debug',
    ]

    const args = deploymentOf({ API_KEY: 'hush' }, extra).steps.at(-1)!.args

    const at = args.indexOf('--parameter-overrides')
    expect(args.filter((word) => word === '--parameter-overrides')).toHaveLength(1)
    expect(args.slice(at + 1, at + 4)).toEqual([
      'Endpoint=http-api',
      'TimeoutSeconds=20',
      'StoredVariables=shop-secrets',
    ])
    expect(args.slice(0, at)).toEqual(expect.arrayContaining(['--region', 'eu-north-1', '--debug']))
  })

  it('secrets that Lambda would not take are refused before anything runs', () => {
    expect(() => deploymentOf({ BIG: 'x'.repeat(4096) })).toThrow(/4 KB/)
  })

  it('every parameter that is set is one of the template’s', () => {
    const args = deploymentOf({ API_KEY: 'hush' }).steps.at(-1)!.args

    for (const override of args.slice(args.indexOf('--parameter-overrides') + 1))
      expect(template()).toMatch(new RegExp(`^  ${override.split('=')[0]}:$`, 'm'))
  })
})
