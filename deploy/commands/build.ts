/** `mayfly build`: builds a server for a platform, or as a desktop bundle, and reports the size. */

import { join, relative } from 'node:path'
import { toJsonLine } from '../../src/definition/json-line.ts'
import { buildInto, buildWarnings, describeSize } from '../targets/build-into.ts'
import { printable } from '../terminal/cli-error.ts'
import type { Help } from '../terminal/help.ts'
import { terminal } from '../terminal/terminal.ts'
import { howToServe } from './_next.ts'
import { COMMON_HELP, outFolder, projectCommand } from './_project-command.ts'

/** Throws `CliError` if the build fails. */
export async function build(args: string[]): Promise<number> {
  const isBundle = args.some(
    (arg, at) => arg === '--target=mcpb' || (arg === 'mcpb' && args[at - 1] === '--target'),
  )
  return isBundle ? (await import('../targets/mcpb/build.ts')).buildMcpb(args) : buildTarget(args)
}

const HELP: Help = {
  usage: ['mayfly build [entry] [--target <name>] [--out <folder>] [--json] [--quiet]'],
  options: [
    ...COMMON_HELP,
    ['--out', 'where to write; default dist/<target>. Replaces an earlier build there.'],
    ['--json', 'print { target, out, main, size, limits } as JSON'],
  ],
  text: [
    "Prints what it wrote and its size, raw and gzipped. Warns if the size is near one of the platform's limits.",
  ],
  examples: [
    'mayfly build --target lambda',
    ['mayfly build --target mcpb', 'a desktop bundle'],
    'mayfly build src/server.ts --target vercel --out build/vercel',
  ],
  page: 'deploy/README.md',
}

/** Exit code 0, even if the build is over a limit, since the user's plan is unknown. Throws `CliError` if the build fails. */
const buildTarget = projectCommand({
  name: 'build',
  help: HELP,
  options: { out: { type: 'string' }, json: { type: 'boolean' } },
  run: async (chosen, values) => {
    const { project, targetName, target } = chosen
    const outDir = outFolder(chosen, values.out)
    const artefact = await buildInto(target, project, outDir)
    const out = relative(project.cwd, outDir)
    process.stdout.write(
      values.json
        ? `${toJsonLine({ target: targetName, out, ...artefact })}\n`
        : `built ${printable(join(out, artefact.main))}: ${describeSize(artefact.size)}\n`,
    )
    for (const line of await buildWarnings(artefact, target, project)) terminal.warn(line)
    if (!values.json) terminal.next(howToServe(project, targetName))
    return 0
  },
})
