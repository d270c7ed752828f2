/**
 * The suites, each a project by its nature. `npm test` runs the first three, `npm run test:suites` the others; each of
 * those has a script of its own (CONTRIBUTING.md).
 */
import { fileURLToPath } from 'node:url'
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'
import { OAUTH_LIBRARY, oauthLibrary } from './scripts/oauth-library.mjs'
import { sourceEntries } from './scripts/source-entries.ts'
import { fewerRows } from './test/_fewer-rows.ts'
import { LongestFirst } from './test/_order.ts'

// The commands print no colours where they are piped: an environment with FORCE_COLOR would add some.
delete process.env.FORCE_COLOR

const root = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

const IN_MEMORY = [
  'architecture',
  'compat',
  'contract',
  'differential',
  'docs',
  'fuzz',
  'guards',
  'property',
  'retrieval',
  'unit',
]

/** They measure the memory of their process, so each has one of its own. */
const MEASURING = [
  'test/unit/asking/memory.test.ts',
  'test/unit/listen-memory.test.ts',
  'test/unit/young-garbage.test.ts',
]

/** They compare times, which others on the machine stretch: run before the other suites, alone. */
const GROWTH = ['test/property/growth*.test.ts']

/** They wait for limits of time, or repeat a run hundreds of times: too long for after every change. A process each, since some measure. */
const LONG = [
  'test/property/{arbitrary-input,client-lists,client-secrets,secret-search}.test.ts',
  'test/property/out-folder.test.ts',
  'test/property/task-crashes.test.ts',
  'test/property/task-faults.test.ts',
  'test/property/zod-schemas.test.ts',
  'test/unit/client/hostile-*.test.ts',
  'test/unit/{bounded-waits,thrown-values-beside}.test.ts',
  'test/unit/keys/api-keys.test.ts',
  'test/unit/mcp-events/{attacks,faults,many-at-once}.test.ts',
  'test/unit/sign-in/{refresh,attacks/flows,attacks/limits,attacks/registrations}.test.ts',
  'test/unit/tasks/{admin-faults,store-down}.test.ts',
]

/** Other people's frameworks, stores and tools. */
const BESIDE = ['byo', 'platform-clis', 'retrieval-stores', 'runtimes/byo', 'runtimes/retrieval']

/** New projects with each of their parts, which install and build for minutes: `npm run test:every-target`. */
const INIT = [
  'test/package/init-templates.test.ts',
  'test/runtimes/init-sign-in.test.ts',
  'test/runtimes/tasks/init.test.ts',
]

/**
 * The longest ones: each repeats on more targets or stores, or in more states, what others of its suite try. `npm run test:suites`, which CI
 * runs, leaves them out; the script of their own suite and `npm run test:every-target` do not.
 */
const BEFORE_RELEASE = [
  'browser/playground-{faults,hostile,live,states,tasks,tasks-hostile}',
  'cli/{build-secrets,check-secrets,commonjs,container,deploy-misbehaving,deploy-place,dev-sign-in,doctor-sign-in}',
  'cli/{env-owner,env-reload,faulty-server,ingest,keys,out-folder,platform-limits,registry,release,reload,repeated-work}',
  'hostile/client/platforms',
  'runtimes/{dev,init,odd-requests}',
  'runtimes/{bench/young,buses/examples,engines/engines,gateway/platforms,keyed/killed,otel/otel}',
  'runtimes/{mcp-events/faults,mcp-events/killed/killed,sign-in/node/killed}',
  'runtimes/tasks/{admin,examples,faults,killed,restarted}',
].map((files) => `test/${files}.test.ts`)

/** Of the suites, what takes half of their time. */
const isAfterChange = process.env.MAYFLY_AFTER_CHANGE === '1'
const LEFT_OUT = isAfterChange ? BEFORE_RELEASE : []

/** For suites that use the package as users get it. */
const PACKED = { globalSetup: 'test/package/_pack-once.ts' }

/** What the official SDK and Mastra bring along: the Node adapter works with both. */
const NODE_SERVER_1 = root('test/runtimes/node/hono-1/node_modules/@hono/node-server/dist')

/** Those in which it reads the request or writes the response in a way of its own: what comes after is the same. */
const ON_NODE_SERVER_1 = [
  ...['asking', 'contract', 'listeners', 'mount', 'posts', 'request-targets', 'serverless'],
  ...['session-changes', 'sessions', 'shares', 'sse'],
].map((name) => `test/runtimes/node/${name}.test.ts`)

const suite = (
  name: string,
  folders: readonly string[],
  more: object = {},
): TestProjectInlineConfiguration => ({
  extends: true,
  test: {
    name,
    include: folders.map((folder) => `test/${folder}/**/*.test.ts`),
    exclude: ['**/node_modules/**', ...LEFT_OUT],
    ...more,
  },
})

/** Where sign-in runs in the process of the tests. */
const withOauth = (project: TestProjectInlineConfiguration): TestProjectInlineConfiguration => ({
  ...project,
  plugins: [...(project.plugins ?? []), oauthLibrary],
  test: { ...project.test, server: { deps: { inline: [OAUTH_LIBRARY] } } },
})

/** Tests in memory with a process for each file. */
const alone = (name: string, include: string[]): TestProjectInlineConfiguration =>
  withOauth({
    extends: true,
    plugins: [sourceEntries],
    test: { name, include, setupFiles: 'test/_parts.ts' },
  })

export default defineConfig({
  test: {
    // Limits only end what hangs: the machine may be busy with other things, too.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    setupFiles: 'test/_waiting.ts',
    // Servers under test log a line per request: shown where a test fails.
    silent: 'passed-only',
    // Hundreds of tests start the command line from its TypeScript sources: compiled once, that takes a third of the time.
    env: { NODE_COMPILE_CACHE: root('node_modules/.cache/node') },
    // For two cores: a third worker works while others wait for a clock or another process.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    projects: [
      // One process with threads that are used again: starting each file afresh would take most of the time.
      {
        ...suite('unit', IN_MEMORY, {
          pool: 'threads',
          isolate: false,
          exclude: [...MEASURING, ...GROWTH, ...LONG],
          setupFiles: ['test/_globals.ts', 'test/_parts.ts'],
          server: { deps: { inline: [OAUTH_LIBRARY] } },
        }),
        plugins: [sourceEntries, oauthLibrary],
      },
      {
        extends: true,
        plugins: [sourceEntries],
        test: { name: 'memory', include: MEASURING, setupFiles: 'test/_parts.ts' },
      },
      alone('long', LONG),
      alone('growth', GROWTH),
      suite('smoke', ['smoke']),
      { ...suite('cli', ['cli']), plugins: isAfterChange ? [fewerRows] : [] },
      suite('package', ['package'], { ...PACKED, exclude: ['**/node_modules/**', ...INIT] }),
      withOauth(suite('init', [], { ...PACKED, include: INIT })),
      withOauth(suite('browser', ['browser'])),
      withOauth(
        suite('runtimes', ['runtimes', 'hostile'], {
          ...PACKED,
          exclude: [
            '**/node_modules/**',
            ...BESIDE.map((folder) => `test/${folder}/**`),
            ...INIT,
            ...LEFT_OUT,
          ],
        }),
      ),
      withOauth(suite('others', BESIDE, PACKED)),
      {
        ...suite('node-server-1', [], { ...PACKED, include: ON_NODE_SERVER_1 }),
        resolve: {
          alias: [
            { find: /^@hono\/node-server$/, replacement: `${NODE_SERVER_1}/index.mjs` },
            { find: /^@hono\/node-server\/(utils\/.+)$/, replacement: `${NODE_SERVER_1}/$1.mjs` },
          ],
        },
      },
      suite('newcomer', ['newcomer'], PACKED),
      suite('frameworks', ['frameworks']),
    ],
  },
})
