/** A bundler leaves out of dist/ what it leaves out of the sources: users' bundles do not grow by how the package is put together. */
import { expect, it } from 'vitest'
import { measureSizes } from '../../scripts/sizes.ts'

/** KB. Names that many modules have are longer in one file, and what is loaded later makes more of it one piece. */
const MORE = 0.6

it('a bundle from the built package is as small as one from its sources', async () => {
  const [sources, built] = [await measureSizes('src'), await measureSizes('dist')]
  for (const kind of ['features', 'entries', 'loaded'] as const)
    for (const [name, size] of Object.entries(sources[kind]))
      expect(built[kind][name], name).toBeLessThanOrEqual(Math.max(size * 1.02, size + MORE))
  expect(Object.keys(built.features).length).toBeGreaterThan(5)
})
