/**
 * Installs what the runtimes under test need beyond the repository's own packages, where it is not there yet: AWS's runtime
 * interface client, which compiles for half a minute, the platforms' command line tools, other frameworks and vector stores, which are
 * large.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')

/** The lock file of the tools lacks other systems' optional packages, which are not all published: `npm ci` refuses it. */
const PACKAGES = [
  { folder: 'test/runtimes/lambda/ric', install: ['ci'] },
  { folder: 'test/platform-clis', install: ['install', '--no-save'] },
  { folder: 'test/runtimes/tasks/stores/dynalite', install: ['ci'] },
  { folder: 'test/runtimes/tasks/runners/aws', install: ['ci'] },
  { folder: 'test/runtimes/tasks/inspector', install: ['ci'] },
  { folder: 'test/runtimes/mcpb', install: ['ci'] },
  { folder: 'test/byo', install: ['ci'] },
  { folder: 'test/retrieval-stores', install: ['ci'] },
  { folder: 'examples/mastra', install: ['ci'] },
  { folder: 'examples/tasks/dynamodb', install: ['ci'] },
]

for (const { folder, install } of PACKAGES) {
  if (isInstalled(join(ROOT, folder))) continue
  const args = [...install, '--no-audit', '--no-fund']
  execFileSync('npm', args, { cwd: join(ROOT, folder), stdio: 'inherit' })
}

// As `npm install mayfly-mcp` would put it there.
for (const example of ['mastra', 'tasks/dynamodb']) {
  const own = join(ROOT, 'examples', example, 'node_modules/mayfly-mcp')
  if (!existsSync(own)) symlinkSync(ROOT, own)
}

function isInstalled(folder: string): boolean {
  const { dependencies, devDependencies } = readManifest(folder) as {
    dependencies?: Record<string, string>
    devDependencies?: Record<string, string>
  }
  return Object.entries({ ...dependencies, ...devDependencies }).every(([name, version]) => {
    const installed = join(folder, 'node_modules', name)
    return (
      existsSync(installed) &&
      (readManifest(installed) as { version: string }).version === exactVersion(version)
    )
  })
}

/** Of an alias, such as `npm:@mastra/mcp@2.0.0`, too. */
function exactVersion(wanted: string): string {
  return wanted.slice(wanted.lastIndexOf('@') + 1)
}

function readManifest(folder: string): object {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as object
}
