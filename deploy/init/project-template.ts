/** The other files of the project that `mayfly init` writes. */
import { randomBytes } from 'node:crypto'
import { grantsOf } from '../contract/abilities.ts'
import type { GrantPlatform, ProjectFiles, Target, TaskPlatform } from '../contract/target.ts'
import { packageManifest } from '../project/mayfly-package.ts'
import { agentsFile } from './agents-template.ts'
import { deployWorkflow } from './deploy-workflow.ts'
import { eventParts } from './events-template.ts'
import { previewWorkflow } from './preview-workflow.ts'
import { readmeFile } from './readme-template.ts'
import { serverSources, type Template } from './server-template.ts'
import { type SignInParts, signInParts } from './sign-in-template.ts'
import { NODE_TYPES, type TaskParts, taskParts } from './tasks-template.ts'
import { testSource } from './test-template.ts'

export interface InitAnswers {
  readonly name: string
  /** The values of `--with`. */
  readonly templates: ReadonlySet<Template>
  /** `npm run dev` and `npm run deploy` use the first one. */
  readonly targets: readonly (readonly [
    name: string,
    target: Pick<Target, 'defaultPort' | 'files' | 'title' | 'isOwnMachine' | 'oldestNode' | 'tasks'>,
  ])[]
}

const TSCONFIG = {
  compilerOptions: {
    target: 'ES2022',
    lib: ['ES2022', 'ESNext.Disposable', 'DOM'],
    module: 'ESNext',
    moduleResolution: 'Bundler',
    allowImportingTsExtensions: true,
    strict: true,
    noEmit: true,
    skipLibCheck: true,
  },
  include: ['src', 'test'],
}

/** The path that the platform's schedule calls. */
const CRON: { readonly [platform in TaskPlatform]?: object } = {
  cron: { cron: '/tasks' },
  dynamodb: { cron: { path: '/tasks', schedule: '*/5 * * * *' }, tasks: 'dynamodb' },
}

const EVENT_CRON: { readonly [platform in TaskPlatform]?: object } = {
  cron: { cron: '/events' },
  dynamodb: { cron: '/events', events: 'dynamodb' },
}

/** There is one script per command and target; those of the first target have no suffix. */
const COMMANDS = ['dev', 'build', 'preview', 'deploy', 'doctor']

const SECRET =
  '# Encrypts the state of a call while its user is asked. Create a secret with: openssl rand -base64 32'

const TOKEN = '# The token that clients send as Authorization: Bearer <token>.'

/** Every file of the project, by its path. `.env` holds a new secret. */
export function projectFiles(answers: InitAnswers): Map<string, string> {
  const { name, targets, templates } = answers
  const hasTasks = templates.has('tasks')
  const hasEvents = templates.has('events')
  const grants = grantsIn(answers)
  const platforms = targets.map(([, target]) =>
    target.files({ name, hasTasks, hasEvents, hasGrants: grants !== undefined }),
  )
  const tasks = tasksOf(answers)
  return new Map([
    ...serverSources({ ...answers, tasks, events: eventsOf(answers), grants }),
    ...partsOf(answers).flatMap(({ files }) => files),
    ['test/server.test.ts', testSource(answers)],
    ['package.json', json(manifest(answers, platforms))],
    ['tsconfig.json', json(tsconfig(answers))],
    ['.gitignore', gitignore(platforms)],
    ['.env.example', environment(answers, () => '')],
    ['.env', environment(answers, () => randomBytes(32).toString('base64url'))],
    ['.github/workflows/ci.yml', workflow(targets.map(([target]) => target))],
    ...deployment(answers, platforms),
    [
      'README.md',
      readmeFile(
        answers,
        { tasks: tasksIn(answers), events: eventsIn(answers) },
        signInOf(answers),
        platforms[0]?.path,
      ),
    ],
    ['AGENTS.md', agentsFile(answers)],
    ...platforms.flatMap(({ files }) => Object.entries(files)),
  ])
}

function deployment(answers: InitAnswers, platforms: readonly ProjectFiles[]): [string, string][] {
  const named = platforms.flatMap(({ ci }, at) =>
    ci === undefined ? [] : [{ name: answers.targets[at]![0], ci }],
  )
  const text = deployWorkflow(named, secretsOf(answers))
  const preview = previewWorkflow(named, { hasToken: answers.templates.has('auth') })
  return [
    ...(text === undefined ? [] : [['.github/workflows/deploy.yml', text] as [string, string]]),
    ...(preview === undefined ? [] : [['.github/workflows/preview.yml', preview] as [string, string]]),
  ]
}

function environment(answers: InitAnswers, made: () => string): string {
  const { templates, targets } = answers
  const isUploaded = targets.some(([, { isOwnMachine }]) => !isOwnMachine)
  // For your own machine nothing is uploaded: the server there reads a file like this one.
  const elsewhere = (name: string): string =>
    isUploaded
      ? `# On the platform: mayfly deploy --secret ${name}`
      : '# On your own machine: npm start reads this file.'
  const own = [
    `${SECRET}\n${elsewhere('MAYFLY_SECRET')}\nMAYFLY_SECRET=${made()}\n`,
    ...(templates.has('auth') ? [`${TOKEN}\n${elsewhere('API_TOKEN')}\nAPI_TOKEN=${made()}\n`] : []),
  ]
  const variables = partsOf(answers).flatMap(({ variables }) => variables)
  const more = variables.map(
    ({ name, comment, isMade = false }) => `# ${comment}\n${name}=${isMade ? made() : ''}\n`,
  )
  return [...own, ...more].join('\n')
}

/** The names of the variables that the server needs on the platform. */
function secretsOf(answers: InitAnswers): string[] {
  const variables = partsOf(answers).flatMap(({ variables }) => variables)
  return [
    'MAYFLY_SECRET',
    ...(answers.templates.has('auth') ? ['API_TOKEN'] : []),
    ...variables.map(({ name }) => name),
  ]
}

/** All targets use the same store. */
function tasksOf({ templates, targets }: InitAnswers): TaskPlatform | undefined {
  return templates.has('tasks') ? targets[0]?.[1].tasks : undefined
}

/** All targets use the same store. */
function grantsIn({ templates, targets }: InitAnswers): GrantPlatform | undefined {
  return templates.has('sign-in') ? grantsOf(targets[0]?.[1].tasks) : undefined
}

/** One, or none if there are no tasks. */
function tasksIn(answers: InitAnswers): TaskParts[] {
  const tasks = tasksOf(answers)
  return tasks === undefined ? [] : [taskParts(tasks, answers.name)]
}

/** All targets use the same store. */
function eventsOf({ templates, targets }: InitAnswers): TaskPlatform | undefined {
  return templates.has('events') ? targets[0]?.[1].tasks : undefined
}

/** One, or none if there are no events. */
function eventsIn(answers: InitAnswers): TaskParts[] {
  const events = eventsOf(answers)
  return events === undefined ? [] : [eventParts(events)]
}

/** One, or none if nobody signs in. */
function signInOf(answers: InitAnswers): SignInParts[] {
  const grants = grantsIn(answers)
  if (grants === undefined) return []
  const [target] = answers.targets.map(([, target]) => target)
  const path = target!.files({ name: answers.name }).path ?? '/mcp'
  const url = `http://127.0.0.1:${target!.defaultPort}${path}`
  return [signInParts(grants, { url, path, isOwnMachine: target!.isOwnMachine === true })]
}

type Parts = Omit<TaskParts, 'about'>

/** What tasks, events and sign-in add. A variable that two of them need is there once. */
function partsOf(answers: InitAnswers): Parts[] {
  const taken = new Set<string>()
  return [...tasksIn(answers), ...eventsIn(answers), ...signInOf(answers)].map((parts) => {
    const variables = parts.variables.filter(({ name }) => !taken.has(name))
    for (const { name } of variables) taken.add(name)
    return { ...parts, variables }
  })
}

/** Types of the modules that the server may import besides packages: those of Node and Bun, or what the task store needs. */
function typesOf(answers: InitAnswers): { readonly [name: string]: string } {
  const isOnNode = answers.targets.every(([, { isOwnMachine }]) => isOwnMachine)
  return Object.assign(
    {},
    isOnNode && NODE_TYPES,
    ...partsOf(answers).map(({ devDependencies }) => devDependencies),
  )
}

function tsconfig(answers: InitAnswers): object {
  const types = '@types/node' in typesOf(answers) ? ['node'] : []
  return { ...TSCONFIG, compilerOptions: { ...TSCONFIG.compilerOptions, types } }
}

function manifest(answers: InitAnswers, platforms: readonly ProjectFiles[]): object {
  const { name, targets, templates } = answers
  const [tasks, events] = [tasksOf(answers), eventsOf(answers)]
  const parts = partsOf(answers)
  const { version } = packageManifest()
  const secrets = secretsOf(answers)
    .map((secret) => `--secret ${secret}`)
    .join(' ')
  const scripts = targets.flatMap(([target, { isOwnMachine }], index) =>
    COMMANDS.filter((command) => command !== 'deploy' || !isOwnMachine).map((command) => [
      index === 0 ? command : `${command}:${target}`,
      `mayfly ${command} --target ${target}${command === 'deploy' ? ` ${secrets}` : ''}`,
    ]),
  )
  const dependencies = {
    'mayfly-mcp': `^${version}`,
    zod: '^4.6.7',
    ...(templates.has('hono') && { hono: '^4.13.19' }),
    ...(templates.has('fromSdk') && { '@modelcontextprotocol/server': '^2.4.0' }),
    ...Object.assign({}, ...parts.map(({ dependencies }) => dependencies)),
    ...Object.assign({}, ...platforms.map(({ dependencies }) => dependencies)),
  }
  return {
    name,
    version: '0.1.0',
    private: true,
    type: 'module',
    // The default for `--target`.
    mayfly: {
      targets: targets.map(([target]) => target),
      ...(tasks !== undefined && CRON[tasks]),
      ...(events !== undefined && EVENT_CRON[events]),
      ...(grantsIn(answers) === 'dynamodb' && { grants: 'dynamodb' }),
    },
    scripts: {
      ...Object.fromEntries(scripts),
      check: 'mayfly check',
      test: 'vitest run',
      types: 'tsc',
      ...Object.assign({}, ...parts.map(({ scripts }) => scripts)),
      ...Object.assign({}, ...platforms.map(({ scripts }) => scripts)),
    },
    dependencies: sorted(dependencies),
    devDependencies: sorted(
      without(dependencies, {
        // The client of the test.
        '@modelcontextprotocol/client': '^2.4.0',
        esbuild: '^0.28.2',
        typescript: '^5.9.3',
        // Newer versions need Node 22: npm picks one that the installed Node can run.
        vitest: '^4.1.12 || ^5.1.1',
        ...typesOf(answers),
        ...Object.assign({}, ...platforms.map(({ devDependencies }) => devDependencies)),
      }),
    ),
  }
}

function gitignore(platforms: readonly ProjectFiles[]): string {
  const own = ['node_modules/', 'dist/', '.env', '.env.*', '!.env.example']
  return `${[...new Set([...own, ...platforms.flatMap(({ ignored }) => ignored)])].join('\n')}\n`
}

function workflow(targets: readonly string[]): string {
  const builds = targets.map((target) => `      - run: npx mayfly build --target ${target}`)
  return `name: ci
on:
  push:
  pull_request:
permissions:
  contents: read
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v5
      - uses: actions/setup-node@v5
        with:
          node-version: 24
      - run: npm ci
      - run: npm run types
      - run: npm test
${builds.join('\n')}
`
}

function json(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`
}

type Versions = { readonly [name: string]: string }

function without(others: Versions, names: Versions): Versions {
  return Object.fromEntries(Object.entries(names).filter(([name]) => !Object.hasOwn(others, name)))
}

function sorted(names: Versions): Versions {
  return Object.fromEntries(Object.entries(names).sort(([a], [b]) => (a < b ? -1 : 1)))
}
