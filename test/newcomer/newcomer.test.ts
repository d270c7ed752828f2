/**
 * Every command of the README, of each platform's page and of the README that `mayfly init` writes, as a newcomer types it: in an empty
 * folder, from the packed package, with the oldest Node and with the current one. Nothing leaves this machine.
 */
import { join } from 'node:path'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { targets } from '../../deploy/targets/all.ts'
import { ROOT } from '../package/_packed.ts'
import { type Arranged, arrange } from './_arranged.ts'
import { commandsOf } from './_markdown.ts'
import { createNewcomer } from './_newcomer.ts'
import { perform, type Visit } from './_steps.ts'

/** By major version: the oldest that is supported, and the one that runs this. */
const NODES = [
  [20, join(import.meta.dirname, 'node_modules/node/bin/node')],
  [24, join(ROOT, 'node_modules/node/bin/node')],
] as const

let arranged: Arranged
beforeAll(async () => {
  arranged = await arrange()
})
afterAll(async () => {
  await arranged?.[Symbol.asyncDispose]()
})

/** The page of a target. */
function pageOf(target: string): string {
  return join(ROOT, 'docs/deploy', `${target.replace(/-edge$/, '')}.md`)
}

/** A page shows one of two targets, and says that the other is chosen by its name. */
function forTarget(command: string, target: string): string {
  return command.replace(/--target (\S+)/, (option, shown: string) =>
    target === `${shown}-edge` ? `--target ${target}` : option,
  )
}

/** What only shows all that may be written, is another platform's, or has been done. */
function isElsewhere(command: string): boolean {
  return /\[dir\]|\[--|<(?:url|path)>|^(?:fly|gcloud) |server\.ts$/.test(command)
}

async function follow(commands: readonly string[], visit: Visit): Promise<void> {
  for (const command of commands) {
    const started = performance.now()
    await perform(forTarget(command, visit.target), visit)
    console.log(`${((performance.now() - started) / 1000).toFixed(1)} s  ${command}`)
  }
}

describe.each(NODES)('Node %i', { timeout: 300_000 }, (node, program) => {
  it('README.md', async () => {
    using newcomer = createNewcomer(program, arranged.registry, arranged.cache)
    await follow(commandsOf(join(ROOT, 'README.md')), {
      newcomer,
      target: 'cloudflare',
      node,
      done: new Set(),
    })
  })

  // The same commands as everywhere: once is enough.
  it.runIf(node === 24)('the pages about all platforms', async () => {
    using newcomer = createNewcomer(program, arranged.registry, arranged.cache)
    const visit: Visit = { newcomer, target: 'deno', node, done: new Set() }
    await follow(['npx mayfly-mcp init shop --target deno && cd shop', 'npm install'], visit)
    const pages = ['docs/deploy/README.md', 'docs/cli.md', 'docs/sessions.md', 'docs/check.md']
    const printed = pages.flatMap((page) => commandsOf(join(ROOT, page)))
    await follow(
      printed
        .filter((command) => !isElsewhere(command))
        .map((command) => command.replace(/ \[entry\]$/, '').replace('<name>', 'deno')),
      visit,
    )
  })

  it.each([...targets.keys()])('docs/deploy: %s', async (target) => {
    using newcomer = createNewcomer(program, arranged.registry, arranged.cache)
    const visit: Visit = { newcomer, target, node, done: new Set() }
    await follow(commandsOf(pageOf(target)), visit)
    // Its first command was the page's.
    const [, ...own] = commandsOf(join(newcomer.cwd, 'README.md'))
    await follow(own, visit)
  })
})
