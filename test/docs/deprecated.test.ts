/** What MCP 2026-07-28 deprecates is said where it is described, with a link to what that means. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { pagePaths } from '../../scripts/llms.ts'

const ROOT = join(import.meta.dirname, '../..')
const LINK = '[deprecated](degradation.md#deprecated-by-mcp-2026-07-28)'

/** How a page describes each, rather than only names it. */
const DESCRIBED: readonly (readonly [feature: string, words: RegExp])[] = [
  ['sampling and roots', /`ctx\.createMessage\(|`ctx\.listRoots\(/],
  ['logging', /`log\(level/],
  ['HTTP+SSE', /then HTTP\+SSE|serves .*HTTP\+SSE/],
  ['dynamic registration', /register themselves|register dynamically|a new registration/],
]

it.each(DESCRIBED)('%s: each paragraph or row that describes it says so', (_feature, words) => {
  const described = pagePaths()
    .filter((path) => !path.startsWith('docs/migrate/'))
    .flatMap((path) => readFileSync(join(ROOT, path), 'utf8').split(/\n\n|\n(?=[-|]|\d+\. )/))
    .filter((text) => words.test(text))
  expect(described.length).toBeGreaterThan(0)
  expect(described.filter((text) => !text.includes(LINK))).toEqual([])
})
