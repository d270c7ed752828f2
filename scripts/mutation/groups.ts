/** What is mutated, and which tests are run against it. */

export interface Group {
  readonly name: string
  /** What SECURITY.md calls it. */
  readonly title: string
  /** Files and folders under the root. */
  readonly sources: readonly string[]
  /** Beginnings of the paths of test files. Of these only files that reach a mutant are run against it. */
  readonly tests: readonly string[]
  /** Beginnings of paths that are left out. */
  readonly except?: readonly string[]
  /** Per cent of the mutants that the tests must kill; those that are accepted count as not killed. Undefined: reported only. */
  readonly atLeast?: number
}

const SEALED = ['test/property/seal', 'test/property/session-token']
const ASKING = ['test/unit/asking/', ...SEALED]
const GUARDING = [
  'test/unit/auth/',
  'test/unit/guard',
  'test/unit/http',
  'test/unit/public-url',
  'test/unit/limits',
  'test/unit/cors',
  'test/unit/logging',
  'test/unit/audit',
]
const EVERYTHING = ['test/unit/', 'test/property/']
/** Slow tests of behaviour that other tests cover as well. */
const SLOW = [
  'test/unit/asking/memory',
  'test/unit/client/',
  'test/unit/lambda-events',
  'test/property/arbitrary-input',
  'test/property/isolation',
]

export const GROUPS: readonly Group[] = [
  {
    name: 'seal',
    title: 'sealing state',
    sources: [
      'src/interaction/seal.ts',
      'src/interaction/sealing.ts',
      'src/definition/digest.ts',
      'src/definition/base64.ts',
    ],
    tests: ASKING,
    atLeast: 90,
  },
  {
    name: 'replay',
    title: 'replaying a call',
    sources: [
      'src/interaction/replay.ts',
      'src/interaction/question-keys.ts',
      'src/interaction/steps.ts',
      'src/interaction/journal.ts',
      'src/interaction/journal-records.ts',
      'src/interaction/step-body.ts',
    ],
    tests: [
      ...ASKING,
      'test/unit/sdk-callbacks/',
      'test/unit/context',
      'test/property/asking',
      'test/unit/tasks/',
    ],
    atLeast: 90,
  },
  {
    name: 'state',
    title: 'state between rounds',
    sources: ['src/interaction/state.ts'],
    tests: ASKING,
    atLeast: 90,
  },
  {
    name: 'gate',
    title: 'who may do what',
    sources: [
      'src/auth/gate.ts',
      'src/auth/gate-options.ts',
      'src/auth/any-of.ts',
      'src/auth/once.ts',
      'src/auth/identity.ts',
      'src/auth/verdict.ts',
      'src/auth/scopes.ts',
      'src/auth/bearer.ts',
      'src/auth/challenge.ts',
    ],
    tests: [...GUARDING, 'test/unit/resource-access'],
    atLeast: 90,
  },
  {
    name: 'guard',
    title: 'hosts and origins',
    sources: [
      'src/http/guard.ts',
      'src/http/host-and-origin.ts',
      'src/http/hosts.ts',
      'src/request/address.ts',
    ],
    tests: [...GUARDING, 'test/unit/platform-hosts', 'test/property/host'],
    atLeast: 90,
  },
  {
    name: 'session-tokens',
    title: 'session tokens',
    sources: ['src/protocol/declared-token.ts'],
    tests: [...ASKING, 'test/unit/legacy', 'test/unit/auth/gate'],
    atLeast: 90,
  },
  {
    name: 'public-url',
    title: 'the public URL',
    sources: ['src/http/public-url.ts', 'src/http/forwarded.ts'],
    tests: GUARDING,
    atLeast: 90,
  },
  {
    name: 'uris',
    title: 'matching of URIs',
    sources: [
      'src/definition/uri-template.ts',
      'src/definition/template-variables.ts',
      'src/definition/uri.ts',
      'src/sdk/guarded.ts',
      'src/sdk/served-methods.ts',
      'src/sdk/resource-keys.ts',
    ],
    tests: [
      'test/unit/uri',
      'test/unit/resource',
      'test/unit/completion',
      'test/unit/sdk/guarded',
      'test/property/guarded',
    ],
    atLeast: 90,
  },
  ...['interaction', 'auth', 'protocol', 'http', 'sdk'].map((folder) => ({
    name: folder,
    title: `all of \`src/${folder}\``,
    sources: [`src/${folder}`],
    tests: EVERYTHING,
    except: SLOW,
  })),
]

/** One file, with all tests. */
export function groupOfFile(file: string): Group {
  const name = file
    .replace(/^src\//, '')
    .replace(/\.ts$/, '')
    .replaceAll('/', '-')
  return { name, title: file, sources: [file], tests: EVERYTHING, except: SLOW }
}
