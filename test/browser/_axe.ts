/** What axe says of a page. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Axe {
  run(options: object): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }>
}

/** What is wrong in the rules of WCAG 2.2 A and AA and its best practices, or in those that the options of axe name. */
export async function violations(page: Page, options: object = {}): Promise<string[]> {
  await page.evaluate(AXE)
  return page.evaluate(async (given) => {
    const { axe } = window as Window & { axe?: Axe }
    const found = await axe!.run(given)
    return found.violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(' ')}`)
  }, options)
}
