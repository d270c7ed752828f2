/** Projects that `mayfly init` has written, with the packed package and what they declare linked, and nothing downloaded. */
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { TSC } from '../_type-check.ts'
import { ROOT, run } from './_packed.ts'

/** Where a project's dependencies are found without a network; the platforms' large tools are only needed to deploy. */
const SOURCES = [
  ROOT,
  join(ROOT, 'test/runtimes/lambda/ric'),
  join(ROOT, 'test/platform-clis'),
  join(ROOT, 'test/runtimes/tasks/stores/dynalite'),
  join(ROOT, 'test/runtimes/tasks/runners/aws'),
]

/** @param installed where the packed package is. Returns the folder of the new project. */
export function newProject(installed: string, folder: string, name: string, args: readonly string[]): string {
  const cli = join(installed, 'dist/deploy/cli.js')
  run(process.execPath, [cli, 'init', name, '--name', 'dice', ...args], folder)
  const project = join(folder, name)
  link(project, installed)
  return project
}

/** Links what the project declares, and nothing else. */
function link(project: string, installed: string): void {
  const manifest = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>
    devDependencies: Record<string, string>
  }
  const modules = join(project, 'node_modules')
  const { dependencies, devDependencies } = manifest
  for (const name of Object.keys({ ...dependencies, ...devDependencies })) {
    const source = SOURCES.map((root) => join(root, 'node_modules', name)).find((path) => existsSync(path))
    const target = name === 'mayfly-mcp' ? installed : source
    if (target === undefined) continue
    mkdirSync(dirname(join(modules, name)), { recursive: true })
    symlinkSync(target, join(modules, name))
  }
  mkdirSync(join(modules, '.bin'), { recursive: true })
  symlinkSync(TSC, join(modules, '.bin/tsc'))
  symlinkSync(join(ROOT, 'node_modules/.bin/vitest'), join(modules, '.bin/vitest'))
}
