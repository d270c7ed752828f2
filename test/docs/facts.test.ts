/** deploy/contract/facts.ts: each fact has a source and a date, and feeds what it says it feeds. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { FACTS, shownValue } from '../../deploy/contract/facts.ts'
import { targets } from '../../deploy/targets/all.ts'
import { ALL_FACTS, oldFacts, renderFacts, writtenFacts } from '../../scripts/facts.ts'

const ROOT = join(import.meta.dirname, '../..')
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8')

it('docs/deploy/facts.md is what npm run facts writes', () => {
  expect(writtenFacts()).toBe(renderFacts())
})

it('each has an https source, and a day that is not to come', () => {
  const today = new Date().toISOString().slice(0, 10)
  const wrong = ALL_FACTS.filter(
    ({ source, checked, unit, value }) =>
      !URL.canParse(source) ||
      !/^\d{4}-\d\d-\d\d$/.test(checked) ||
      Number.isNaN(Date.parse(checked)) ||
      checked > today ||
      (unit === 'date' ? Number.isNaN(Date.parse(String(value))) : !(Number(value) > 0)),
  )

  expect(wrong.map(({ platform, name }) => `${platform}.${name}`)).toEqual([])
  expect(ALL_FACTS.length).toBeGreaterThan(25)
})

it('what was checked more than six months ago is listed, oldest first', () => {
  const some = ALL_FACTS[0]!
  const at = (checked: typeof some.checked) => ({ ...some, checked })
  const facts = [at('2026-05-22'), at('2026-05-21'), at('2026-01-01')]

  expect(oldFacts(new Date('2026-11-22'), facts).map(({ checked }) => checked)).toEqual([
    '2026-01-01',
    '2026-05-21',
  ])
})

/** Adapters import nothing of deploy/: their numbers are compared. */
describe('the numbers of the adapters are the facts', () => {
  const number = (file: string, name: string): number =>
    Number(new RegExp(`^const ${name} = ([\\d_]+)`, 'm').exec(read(file))?.[1]?.replaceAll('_', ''))

  it.each([
    ['adapters/vercel.ts', 'DEFAULT_DURATION_MS', FACTS.vercel.callMs],
    ['adapters/vercel.ts', 'EDGE_FIRST_BYTE_MS', FACTS.vercel.edgeFirstByteMs],
    ['adapters/netlify.ts', 'FUNCTION_MS', FACTS.netlify.callMs],
    ['adapters/netlify.ts', 'MAX_RESPONSE_BYTES', FACTS.netlify.bufferedBytes],
    ['adapters/netlify.ts', 'EDGE_FIRST_BYTE_MS', FACTS.netlify.edgeFirstByteMs],
    ['adapters/supabase.ts', 'FREE_PLAN_MS', FACTS.supabase.callMs],
  ] as const)('%s, %s', (file, name, fact) => {
    expect(number(file, name)).toBe(fact.value)
  })
})

/** As people write them. */
describe('the pages name the same values', () => {
  it.each([
    ['docs/deploy/cloudflare.md', FACTS.cloudflare.workerBytes],
    ['docs/deploy/cloudflare.md', FACTS.cloudflare.nodejsCompatFrom],
    ['docs/deploy/vercel.md', FACTS.vercel.betaCallMs],
    ['docs/deploy/vercel.md', FACTS.vercel.proCallMs],
    ['docs/deploy/vercel.md', FACTS.vercel.fluidFunctionBytes],
    ['docs/deploy/netlify.md', FACTS.netlify.bufferedBytes],
    ['docs/deploy/netlify.md', FACTS.netlify.streamedBytes],
    ['docs/deploy/supabase.md', FACTS.supabase.cpuMs],
    ['docs/deploy/container.md', FACTS['cloud-run'].callMs],
  ] as const)('%s: %o', (file, fact) => {
    const said = shownValue(fact).replace(/ s$/, ' s(?:econds)?')
    expect(read(file)).toMatch(new RegExp(`(?<![\\d.])${said}`))
  })
})

it('doctor says the limits of each platform that has facts', () => {
  const said = (name: string): string => targets.get(name)!.limits.join('; ')

  expect(said('cloudflare')).toContain('64 MiB')
  expect(said('vercel')).toContain('1800 s')
  expect(said('netlify')).toContain('6 MB, a streamed one 20 MB')
  expect(said('supabase')).toContain('150 s, 400 s on paid plans')
  expect(said('lambda')).toContain('200 MB')
})
