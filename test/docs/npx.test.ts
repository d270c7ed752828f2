/**
 * `npx mayfly` runs the package of a project. Outside a project it would fetch the npm package named `mayfly`, which is not ours: the
 * commands that people run without a project are printed as `npx mayfly-mcp`.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')
const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  'llms.txt',
  ...readdirSync(join(ROOT, 'docs'), { recursive: true })
    .map(String)
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
]

const NEEDS_A_PROJECT = [
  'build',
  'deploy',
  'destroy',
  'dev',
  'doctor',
  'ingest',
  'keys',
  'logs',
  'migrate',
  'preview',
  'registry',
  'rollback',
  'secrets',
  'stdio',
  'events',
  'tasks',
]

/** Blocks of code, and code in a sentence. */
function codeOf(text: string): string[] {
  const blocks = Array.from(text.matchAll(/^```[^\n]*\n([\s\S]*?)^```$/gm), ([, code]) => code!)
  const inline = text.replaceAll(/^```[\s\S]*?^```$/gm, '').matchAll(/`([^`\n]+)`/g)
  return [...blocks, ...Array.from(inline, ([, code]) => code!)]
}

/** Each use of the package named `mayfly` with a command that also works without a project. */
function unsafeCommands(text: string): string[] {
  return codeOf(text).flatMap((code) =>
    Array.from(
      code.matchAll(
        /(?:npx|bunx|pnpm dlx|yarn dlx|deno run)(?: -\S+)* (?:npm:)?mayfly(?![\w-])(?: +(\S+))?/g,
      ),
    )
      .filter(([, command]) => !NEEDS_A_PROJECT.includes(command ?? ''))
      .map(([found]) => found),
  )
}

it.each(PAGES)('%s: commands that need no project are those of mayfly-mcp', (page) => {
  expect(unsafeCommands(readFileSync(join(ROOT, page), 'utf8'))).toEqual([])
})

describe('what is noticed', () => {
  it.each([
    'npx mayfly check https://shop.example/mcp',
    'npx -y mayfly add x',
    'bunx mayfly',
    'npx mayfly init shop',
  ])('%s', (command) => {
    expect(unsafeCommands(`Run \`${command}\`.`)).toHaveLength(1)
    expect(unsafeCommands(`\`\`\`sh\n${command}\n\`\`\`\n`)).toHaveLength(1)
  })

  it.each(['npx mayfly dev', 'npx mayfly-mcp check https://shop.example/mcp', 'mayfly check'])(
    'not %s',
    (command) => {
      expect(unsafeCommands(`Run \`${command}\`.`)).toEqual([])
    },
  )
})
