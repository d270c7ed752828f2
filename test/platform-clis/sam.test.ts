/**
 * AWS Lambda's templates as AWS reads them: the real SAM translator, which makes CloudFormation of them, and the rules of cfn-lint. Both are
 * Python's (`pip install cfn-lint`), so these tests are skipped where Python does not have them. Nothing runs on AWS.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Project } from '../../deploy/contract/target.ts'
import { buildInto } from '../../deploy/targets/build-into.ts'
import { lambda } from '../../deploy/targets/lambda/target.ts'
import { createStack, parseTemplate, REGION, type Template, withoutSam } from '../cli/_cloudformation.ts'

/** `npm run test:newest-clis` installs them into this folder. */
const { MAYFLY_TEST_PYTHON = '', PYTHONPATH = '' } = process.env
const env = {
  ...process.env,
  PYTHONPATH: [MAYFLY_TEST_PYTHON, PYTHONPATH].filter(Boolean).join(':'),
  AWS_DEFAULT_REGION: REGION,
}

interface Ran {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

const python = (args: readonly string[], input = ''): Ran =>
  spawnSync('python3', args, { env, input, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })

const VERSIONS = python([
  '-c',
  `from importlib.metadata import version
import samtranslator, cfnlint
print(version('aws-sam-translator'), version('cfn-lint'))`,
])
const missing =
  VERSIONS.status === 0 ? undefined : 'Python has no samtranslator or cfnlint: pip install cfn-lint'

const LINT = 'import sys; from cfnlint.runner import main; sys.exit(main())'
const lint = (paths: readonly string[]): Ran => python(['-c', LINT, ...paths, '--regions', REGION])

const TRANSLATE = `
import json, sys
from samtranslator.translator.transform import transform
class NoPolicies:
    def load(self):
        return {}
print(json.dumps([transform(template, {}, NoPolicies()) for template in json.load(sys.stdin)]))
`

/** The templates as `sam deploy` hands them over, with uploaded packages. */
function translate(templates: readonly Template[]): Template[] {
  const uploaded = templates.map(({ Resources, ...others }) => ({
    ...others,
    Resources: Object.fromEntries(
      Object.entries(Resources).map(([id, resource]) => {
        const { CodeUri, ...properties } = resource.Properties ?? {}
        const Properties =
          CodeUri === undefined ? properties : { ...properties, CodeUri: 's3://bucket/package' }
        return [id, { ...resource, Properties }]
      }),
    ),
  }))
  const { status, stdout, stderr } = python(['-c', TRANSLATE], JSON.stringify(uploaded))
  // It warns about metrics of its own even when all is well.
  expect(status, stderr).toBe(0)
  return JSON.parse(stdout) as Template[]
}

const KINDS = {
  plain: {},
  cron: { cron: '/tasks' },
  tasks: { tasks: 'dynamodb' },
  'tasks and cron': { tasks: 'dynamodb', cron: { path: '/tasks', schedule: '*/5 * * * *' } },
} as const
const ENDPOINTS = ['function-url', 'rest-api', 'http-api']
/** `--secret` or not, so with a store of its own or a generated secret. */
const STORES = [{}, { StoredVariables: 'shop-secrets', StoredVersion: 'v1' }]
const CASES = ENDPOINTS.flatMap((Endpoint) =>
  STORES.flatMap((store) =>
    ['', 'arn:aws:sns:eu-west-1:123456789012:alarms'].map((AlarmTopic) => ({
      Endpoint,
      AlarmTopic,
      ...store,
    })),
  ),
)

/** ScheduleV2 as an event of a function, which gets the same name in every stack. */
const SAME_NAME = `Transform: AWS::Serverless-2016-10-31
Resources:
  CronFunction:
    Type: AWS::Serverless::Function
    Properties:
      FunctionName: !Sub \${AWS::StackName}-CronFunction
      CodeUri: function.zip
      Handler: index.handler
      Runtime: nodejs24.x
      Events:
        Cron: { Type: ScheduleV2, Properties: { ScheduleExpression: rate(1 minute) } }
`

const title = `the SAM translator and cfn-lint${missing === undefined ? `, ${VERSIONS.stdout.trim()}` : ` (skipped: ${missing})`}`

describe.skipIf(missing !== undefined)(title, () => {
  let folder: string
  /** By kind: the files that `build` writes, and the role of `init`. */
  const files = new Map<string, { readonly [name: string]: string }>()
  const translated = new Map<string, Template>()

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'mayfly-sam-'))
    for (const [kind, mayfly] of Object.entries(KINDS)) {
      const cwd = mkdtempSync(join(folder, 'project-'))
      writeFileSync(join(cwd, 'package.json'), JSON.stringify({ name: 'shop', type: 'module', mayfly }))
      writeFileSync(
        join(cwd, 'server.ts'),
        'export default { fetch: () => new Response() }\nexport const queue = async () => ({})\n',
      )
      const project: Project = { cwd, entry: join(cwd, 'server.ts'), name: 'shop' }
      const out = join(cwd, 'out')
      await buildInto(lambda, project, out)
      files.set(kind, {
        'template.yaml': readFileSync(join(out, 'template.yaml'), 'utf8'),
        'secrets.yaml': readFileSync(join(out, 'secrets.yaml'), 'utf8'),
        ...lambda.files({ name: 'shop', hasTasks: 'tasks' in mayfly }).files,
      })
    }
    const kinds = [...files.keys()]
    const templates = kinds.map((kind) => parseTemplate(files.get(kind)!['template.yaml']!))
    for (const [at, template] of translate(templates).entries()) translated.set(kinds[at]!, template)
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  describe.each(Object.keys(KINDS))('%s', (kind) => {
    it.each(CASES)('%j: two stacks in one account share no name', (parameters) => {
      const [first, second] = ['shop', 'shop-staging'].map((name) =>
        createStack(translated.get(kind)!, { name, parameters }).resources.map(({ arn }) => arn),
      )
      expect(first!.length).toBeGreaterThan(4)
      expect(first!.filter((arn) => second!.includes(arn))).toEqual([])
    })

    it.each(CASES)('%j: the resources that the role for GitHub is checked against', (parameters) => {
      const resourcesOf = (template: Template) =>
        createStack(template, { name: 'shop', parameters })
          .resources.map(({ id, type, arn }) => `${id} ${type} ${arn}`)
          .sort()
      const assumed = withoutSam(parseTemplate(files.get(kind)!['template.yaml']!))
      expect(resourcesOf(translated.get(kind)!)).toEqual(resourcesOf(assumed))
    })
  })

  it('no rule of cfn-lint finds a fault in what build and init write', () => {
    const written = [...files].flatMap(([kind, texts]) =>
      Object.entries(texts).map(
        ([name, text]) => [name === 'template.yaml' ? `${kind}-${name}` : name, text] as const,
      ),
    )
    const paths = [...new Map(written)].map(([name, text]) => {
      const path = join(folder, name.replace(/[ /]/g, '-'))
      writeFileSync(path, text)
      return path
    })
    expect(paths).toHaveLength(Object.keys(KINDS).length + 2)
    const { status, stdout, stderr } = lint(paths)
    expect(stdout + stderr).toBe('')
    expect(status).toBe(0)
  })

  it('a schedule that SAM names would be noticed', () => {
    const [template] = translate([parseTemplate(SAME_NAME)])
    const named = ['shop', 'shop-staging'].map(
      (name) =>
        createStack(template!, { name }).resources.find(({ type }) => type === 'AWS::Scheduler::Schedule')!
          .arn,
    )
    expect(named[0]).toBe(named[1])
  })

  it('a misspelt property would be noticed', () => {
    const path = join(folder, 'misspelt.yaml')
    const { 'template.yaml': text = '' } = files.get('plain')!
    expect(text).toContain('InvokeMode: RESPONSE_STREAM')
    writeFileSync(path, text.replace('InvokeMode: RESPONSE_STREAM', 'InvokeMode: STREAM'))
    expect(lint([path]).stdout).toMatch(/^E\w+ 'STREAM' is not one of /m)
  })
})
