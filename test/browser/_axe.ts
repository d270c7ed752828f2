/** What axe says of a page. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Axe {
  run(options: object): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }>
}

/** What is wrong in the rules of WCAG 2.2 A and AA and its best practices, of the contrast in light and in dark, or in those that the options of axe name. */
export async function violations(page: Page, options?: object): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(AXE)
  const found = await run(page, options ?? {})
  if (options !== undefined) return found
  const isDark = await page.evaluate(() => matchMedia('(prefers-color-scheme: dark)').matches)
  await page.emulateMedia({ colorScheme: isDark ? 'light' : 'dark' })
  const other = await run(page, { runOnly: ['color-contrast'] })
  await page.emulateMedia({ colorScheme: isDark ? 'dark' : 'light' })
  return [...found, ...other]
}

function run(page: Page, options: object): Promise<string[]> {
  return page.evaluate(async (given) => {
    const { axe } = window as Window & { axe?: Axe }
    const { violations: found } = await axe!.run(given)
    return found.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(' ')}`)
  }, options)
}
