/**
 * `npm run facts`: writes docs/deploy/facts.md from deploy/contract/facts.ts, and lists the facts that were last checked more than six months
 * ago, each with its source, oldest first.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { FACTS, type Fact, shownValue } from '../deploy/contract/facts.ts'

const FILE = join(import.meta.dirname, '../docs/deploy/facts.md')
const MONTHS = 6

const HEAD = `<!-- Written by npm run facts from deploy/contract/facts.ts. -->

# Facts about the platforms

What the platforms allow, each with the day on which their documentation was last read. Limits of builds, \`mayfly doctor\` and these
pages use this list. Platforms change, so a build over a limit gets a warning and is not refused.

`

interface NamedFact extends Fact {
  readonly platform: string
  readonly name: string
}

export const ALL_FACTS: readonly NamedFact[] = Object.entries(FACTS).flatMap(([platform, facts]) =>
  Object.entries<Fact>(facts).map(([name, fact]) => ({ platform, name, ...fact })),
)

/** The whole page. */
export function renderFacts(): string {
  const line = (fact: Fact): string =>
    `- ${fact.says}${fact.isBeta ? ' (beta)' : ''}: **${shownValue(fact)}** ([${fact.checked}](${fact.source}))\n`
  const sections = Object.entries(FACTS).map(
    ([platform, facts]) => `## ${platform}\n\n${Object.values<Fact>(facts).map(line).join('')}`,
  )
  return `${HEAD}${sections.join('\n')}`
}

/** The page as it is on disk. */
export function writtenFacts(): string {
  return readFileSync(FILE, 'utf8')
}

/** The facts that should be checked again. */
export function oldFacts(now: Date, facts: readonly NamedFact[] = ALL_FACTS): NamedFact[] {
  const limit = new Date(now)
  limit.setUTCMonth(limit.getUTCMonth() - MONTHS)
  return facts
    .filter(({ checked }) => new Date(checked) < limit)
    .sort((one, other) => one.checked.localeCompare(other.checked))
}

if (import.meta.main) {
  writeFileSync(FILE, renderFacts())
  const old = oldFacts(new Date())
  for (const fact of old) {
    console.log(`${fact.checked}  ${fact.platform}.${fact.name}  ${shownValue(fact)}  ${fact.source}`)
  }
  console.log(`${old.length} of ${ALL_FACTS.length} facts were checked more than ${MONTHS} months ago`)
}
