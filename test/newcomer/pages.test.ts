/**
 * What the pages for those who come from elsewhere print, typed into an empty folder, with the packed package: the server of the page is
 * served, called in the playground with Chromium, and checked.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { eventually } from '../_eventually.ts'
import { launchChromium, openPage } from '../browser/_chromium.ts'
import { ROOT } from '../package/_packed.ts'
import { type Arranged, arrange } from './_arranged.ts'
import { createNewcomer, type Newcomer, type Running } from './_newcomer.ts'
import { perform, readyUrl, type Visit } from './_steps.ts'
import { partsOf } from './_tutorial.ts'

let arranged: Arranged
let browser: Browser
beforeAll(async () => {
  arranged = await arrange()
  browser = await launchChromium()
})
afterAll(async () => {
  await browser?.close()
  await arranged?.[Symbol.asyncDispose]()
})

/** A page, the tool of its sample, what a person does with it, and what must then be shown. */
interface Way {
  readonly file: string
  readonly tool: string
  readonly act?: (page: Page) => Promise<void>
  readonly shown: string
}

/** How far a reader has come. */
interface Reader {
  readonly newcomer: Newcomer
  readonly way: Way
  readonly visit: Visit
  /** The steps that only these pages have, in their order. */
  readonly taken: string[]
  serving?: Running
}

const WAYS: { readonly [name: string]: Way } = {
  Express: { file: 'docs/bring-your-own.md', tool: 'opens', shown: 'At 8.' },
  Mastra: {
    file: 'docs/migrate/mastra.md',
    tool: 'weather',
    act: async (page) => page.getByRole('region', { name: 'Try it' }).getByLabel('city').fill('Oslo'),
    shown: 'It is sunny in Oslo.',
  },
  'mcp-use': { file: 'docs/migrate/mcp-use.md', tool: 'collect_contact', shown: 'Follow-up will go to Bob.' },
}

type Act = (command: string, reader: Reader) => Promise<void>

const ACTS: readonly (readonly [pattern: RegExp, act: Act])[] = [
  [/^npx mayfly dev(?: server\.js)?$/, serveAndCall],
  [/^npx mayfly-mcp check /, check],
  [/^node client\.ts$/, runClient],
]

it.each(Object.keys(WAYS))('%s', async (name) => {
  using newcomer = createNewcomer(join(ROOT, 'node_modules/node/bin/node'), arranged.registry, arranged.cache)
  const visit: Visit = { newcomer, target: 'node', node: 24, done: new Set() }
  const reader: Reader = { newcomer, way: WAYS[name]!, visit, taken: [] }
  try {
    for (const part of partsOf(join(ROOT, reader.way.file))) {
      if (part.kind === 'command') await follow(part.text, reader)
      else writeFileSync(join(newcomer.cwd, part.path), part.text)
    }
  } finally {
    await reader.serving?.stop()
  }
  expect(reader.taken).toEqual(['serveAndCall', 'check', ...(name === 'mcp-use' ? ['runClient'] : [])])
})

async function follow(command: string, reader: Reader): Promise<void> {
  const started = performance.now()
  const [, act] = ACTS.find(([pattern]) => pattern.test(command)) ?? []
  if (act === undefined) await perform(command, reader.visit)
  else {
    await act(command, reader)
    reader.taken.push(act.name)
  }
  console.log(`${((performance.now() - started) / 1000).toFixed(1)} s  ${command}`)
}

/** It goes on running, as in the reader's first terminal. */
async function serveAndCall(command: string, reader: Reader): Promise<void> {
  const serving = reader.newcomer.start(command)
  reader.serving = serving
  await readyUrl(serving)
  const playground = await eventually(() => {
    const [, found] = /Playground +(\S+)/.exec(serving.output()) ?? []
    if (found === undefined) throw new Error(`no playground:\n${serving.output()}`)
    return found
  })
  await using opened = await openPage(browser, playground)
  const { page, complaints } = opened
  await page
    .getByRole('status')
    .getByText(/^Connected/)
    .waitFor()
  const { tool, act, shown } = reader.way
  await page.getByRole('navigation').getByRole('button', { name: tool, exact: true }).click()
  await act?.(page)
  await page
    .getByRole('region', { name: 'Try it' })
    .getByRole('button', { name: 'Call', exact: true })
    .click()
  if (tool === 'collect_contact') await answer(page)
  await page.locator('.result').getByText(shown).first().waitFor()
  // The browser complains about the refusal by which a server of SDK v1 says that it is a legacy one.
  expect(complaints.filter((text) => !/status of 400/.test(text))).toEqual([])
}

async function answer(page: Page): Promise<void> {
  const question = page.getByRole('form', { name: 'The server asks' })
  await question.getByText('Who gets the follow-up?').waitFor()
  await question.getByLabel('name').fill('Bob')
  await question.getByRole('button', { name: 'Send answer' }).click()
}

async function check(command: string, { newcomer }: Reader): Promise<void> {
  const { code, stdout, stderr } = await newcomer.run(command)
  expect(stdout, stderr).toMatch(/^\d+ work, .*\b0 wrong/m)
  expect(code, stdout).toBe(0)
}

async function runClient(command: string, { newcomer }: Reader): Promise<void> {
  const { code, stdout, stderr } = await newcomer.run(command)
  expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' })
  expect(stdout).toContain('Follow-up will go to Ada.')
}
