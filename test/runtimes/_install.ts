/**
 * Installs what the runtimes under test need beyond the repository's own packages, where it is not there yet: AWS's runtime interface client,
 * which compiles for some minutes. With `--others` also the platforms' command line tools, other frameworks, clients and vector stores, which
 * are large and for `npm run test:others` and `npm run test:newcomer`.
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
  'examples/otel',
  'examples/tasks/dynamodb',
]
const OTHERS = ['test/byo', 'test/byo/apps', 'test/retrieval-stores', 'examples/mastra']

const absolute = (folder: string): string => join(ROOT, folder)

const hasOthers = process.argv.includes('--others')
await installPackages([...PACKAGES, ...(hasOthers ? OTHERS : [])].map(absolute))
// Its lock file lacks what other systems need.
if (hasOthers) await installPackages([absolute('test/platform-clis')], 'install')

// As `npm install mayfly-mcp` would put it there.
for (const example of ['otel', 'tasks/dynamodb', ...(hasOthers ? ['mastra'] : [])]) {
  const own = join(ROOT, 'examples', example, 'node_modules/mayfly-mcp')
  if (!existsSync(own)) symlinkSync(ROOT, own)
}
