/** Sizes that the documentation names are those of today’s code: gzipped, as a Worker is bundled. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { bundledBytes, measureSizes, performancePage, readBudgets } from '../../scripts/sizes.ts'

const ROOT = join(import.meta.dirname, '../..')

const written = (file: string, pattern: RegExp): number =>
  Number(pattern.exec(readFileSync(join(ROOT, file), 'utf8'))?.[1]) * 1000

it('docs/client-reference.md: a Worker with the client alone', async () => {
  const size = await bundledBytes(`
    import { MCPClient } from './src/client.ts'
    export default { fetch: () => Response.json(Object.keys(new MCPClient({ servers: {} }))) }`)
  const said = written('docs/client-reference.md', /client alone is (\d+) KB\s+gzipped/)
  expect([size / said > 0.95, size / said < 1.05, size]).toEqual([true, true, size])
})

it('docs/tools.md: the validator of jsonSchema()', async () => {
  const server = (schema: string) => `
    import { createTool, jsonSchema, MCPServer } from './src/index.ts'
    const t = createTool({ id: 't', ${schema} execute: () => '' })
    export default new MCPServer({ id: 'x', name: 'X', version: '1', tools: { t } })`
  const without = await bundledBytes(server(''))
  const withIt = await bundledBytes(server("inputSchema: jsonSchema({ type: 'object' }),"))
  const said = written('docs/tools.md', /ship a validator \((\d+) KB\)/)
  expect([Math.abs(withIt - without - said) < 700, withIt - without]).toEqual([true, withIt - without])
})

describe('bench/size-budgets.json', () => {
  const sizes = measureSizes()

  it('nothing grows over its budget, and no budget is left too high', async () => {
    const [measured, budgets] = [await sizes, readBudgets()]
    const wrong = (['entries', 'features', 'loaded'] as const).flatMap((kind) =>
      Object.entries(measured[kind])
        .map(([name, size]) => ({ name, size, budget: budgets[kind][name] ?? 0 }))
        .filter(({ size, budget }) => size > budget + 0.15 || size < budget * 0.97 - 0.15),
    )

    expect(wrong, 'npm run sizes -- --write accepts new sizes').toEqual([])
  })

  it('docs/performance.md shows the budgets', () => {
    const { written, rendered } = performancePage(readBudgets())
    expect(written).toBe(rendered)
  })
})
