/**
 * Installs what the runtimes under test need beyond the repository's own packages, where it is not there yet: AWS's runtime
 * interface client, which compiles for half a minute, the platforms' command line tools, other frameworks, clients and vector stores, which are
 * large.
 */
import { existsSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { installPackages } from '../../scripts/install-package.ts'

const ROOT = join(import.meta.dirname, '../..')

const PACKAGES = [
  'test/runtimes/lambda/ric',
  'test/runtimes/node/hono-1',
  'test/runtimes/tasks/stores/dynalite',
  'test/runtimes/tasks/runners/aws',
  'test/runtimes/tasks/inspector',
  'test/runtimes/auth/ai-sdk',
  'test/runtimes/mcpb',
  'test/byo',
  'test/byo/apps',
  'test/retrieval-stores',
  'examples/mastra',
  'examples/otel',
  'examples/tasks/dynamodb',
]

const absolute = (folder: string): string => join(ROOT, folder)

await installPackages(PACKAGES.map(absolute))
// Their lock files lack what other systems need.
await installPackages(['test/platform-clis', 'bench/frameworks'].map(absolute), 'install')

// As `npm install mayfly-mcp` would put it there.
for (const example of ['mastra', 'otel', 'tasks/dynamodb']) {
  const own = join(ROOT, 'examples', example, 'node_modules/mayfly-mcp')
  if (!existsSync(own)) symlinkSync(ROOT, own)
}
