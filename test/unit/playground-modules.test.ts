/** The page of the playground loads only modules that its process serves. */
import { expect, test } from 'vitest'
import { ASSETS, readAsset } from '../../deploy/playground/page.ts'

test('every module imports only others of them', () => {
  const scripts = ASSETS.filter((name) => name.endsWith('.ts'))
  const imports = scripts.flatMap((name) =>
    [...readAsset(name).body.matchAll(/from '([^']+)'/g)].map(([, from]) => `${name}: ${from}`),
  )
  expect(imports.length).toBeGreaterThan(20)
  expect(imports.filter((line) => !scripts.some((script) => line.endsWith(`: ./${script}`)))).toEqual([])
})
