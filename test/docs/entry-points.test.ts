/** docs/entry-points.md says of each entry point, in one sentence, what it is for. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }

const page = readFileSync(new URL('../../docs/entry-points.md', import.meta.url), 'utf8')
const rows = Array.from(page.matchAll(/^\| `(mayfly-mcp[^`]*)` \| (.*) \|$/gm), ([, entry, purpose]) => ({
  entry: entry!,
  purpose: purpose!,
}))

it('every entry point of package.json is listed once, and no other', () => {
  const entries = Object.keys(manifest.exports).filter((entry) => entry !== './package.json')
  expect(rows.map(({ entry }) => entry).sort()).toEqual(
    entries.map((entry) => entry.replace('.', 'mayfly-mcp')).sort(),
  )
})

it.each(rows)('$entry: one sentence', ({ purpose }) => {
  expect(purpose).toMatch(/^[A-Z][^.]*\.$/)
})
