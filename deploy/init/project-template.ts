/** Everything else of the project that `mayfly init` writes. */
import { packageManifest } from '../package.ts'
import type { ProjectFiles, Target } from '../target.ts'
import { serverSource, TEST_SOURCE } from './server-template.ts'

export interface InitAnswers {
  readonly name: string
  /** The first is the one that `npm run dev` and `npm run deploy` are for. */
  readonly targets: readonly (readonly [name: string, target: Pick<Target, 'files' | 'title'>])[]
}

const TSCONFIG = {
  compilerOptions: {
    target: 'ES2022',
    lib: ['ES2022', 'DOM'],
    module: 'ESNext',
    moduleResolution: 'Bundler',
    allowImportingTsExtensions: true,
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
  },
  include: ['src', 'test'],
}

const ENV_EXAMPLE = `# Seals what a call must remember while its user is asked. Make one with: openssl rand -base64 32
# On the platform: mayfly deploy --secret MAYFLY_SECRET
MAYFLY_SECRET=
`

/** Every file of the project, by its path. */
export function projectFiles({ name, targets }: InitAnswers): Map<string, string> {
  const platforms = targets.map(([, target]) => target.files({ name }))
  return new Map([
    ['src/server.ts', serverSource(name)],
    ['test/server.test.ts', TEST_SOURCE],
    ['package.json', json(manifest({ name, targets }, platforms))],
    ['tsconfig.json', json(TSCONFIG)],
    ['.gitignore', gitignore(platforms)],
    ['.env.example', ENV_EXAMPLE],
    ['.github/workflows/ci.yml', workflow(targets.map(([target]) => target))],
    ['README.md', readme({ name, targets })],
    ...platforms.flatMap(({ files }) => Object.entries(files)),
  ])
}

function manifest({ name, targets }: InitAnswers, platforms: readonly ProjectFiles[]): object {
  const { version } = packageManifest()
  const [[first] = ['']] = targets
  const others = targets.slice(1).flatMap(([target]) => [
    [`dev:${target}`, `mayfly dev --target ${target}`],
    [`deploy:${target}`, `mayfly deploy --target ${target}`],
  ])
  return {
    name,
    version: '0.1.0',
    private: true,
    type: 'module',
    scripts: {
      dev: `mayfly dev --target ${first}`,
      build: `mayfly build --target ${first}`,
      deploy: `mayfly deploy --target ${first}`,
      doctor: `mayfly doctor --target ${first}`,
      test: 'vitest run',
      types: 'tsc',
      ...Object.fromEntries(others),
      ...Object.assign({}, ...platforms.map(({ scripts }) => scripts)),
    },
    dependencies: sorted({
      'mayfly-mcp': `^${version}`,
      zod: '^4.6.7',
      ...Object.assign({}, ...platforms.map(({ dependencies }) => dependencies)),
    }),
    devDependencies: sorted({
      esbuild: '^0.28.2',
      typescript: '^5.9.3',
      vitest: '^5.1.1',
      ...Object.assign({}, ...platforms.map(({ devDependencies }) => devDependencies)),
    }),
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
      - run: npm install
      - run: npm run types
      - run: npm test
${builds.join('\n')}
`
}

function readme({ name, targets }: InitAnswers): string {
  const [[first, { title }] = ['', { title: '' }]] = targets
  return `# ${name}

An MCP server, built with [Mayfly](https://www.npmjs.com/package/mayfly-mcp) for ${title}.

\`\`\`sh
npm install
npm run dev        # serve it on this machine, reloading on change
npm test
npm run types
npm run doctor     # what is missing, and what will degrade on ${first}
npm run deploy     # npm run deploy -- --secret MAYFLY_SECRET hands over a secret
\`\`\`

The server is \`src/server.ts\`. A tool that asks its user more than once, or remembers a step, needs \`MAYFLY_SECRET\`: see
\`.env.example\`.
`
}

function json(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`
}

function sorted(names: { readonly [name: string]: string }): { [name: string]: string } {
  return Object.fromEntries(Object.entries(names).sort(([a], [b]) => (a < b ? -1 : 1)))
}
