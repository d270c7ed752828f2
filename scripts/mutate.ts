/**
 * Mutation testing: `npm run mutate -- [--group seal]… [--file src/http/body.ts]… [--workers 2] [--survivors folder] [--verbose] [--write]`.
 *
 * Makes the mutants of each group in `mutation/groups.ts`, runs against each the test files that reach it, and says which ones survive.
 * The exit code is 1 if a group is under its threshold, or if an entry of `mutation/accepted.ts` is no longer a mutant.
 * `--write` saves the numbers and writes them into SECURITY.md. The checkout is not changed otherwise: mutants exist in memory.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { GROUPS, groupOfFile } from './mutation/groups.ts'
import { filesOf, isKilled, percent, resultOf, survivorsOf, write } from './mutation/report.ts'
import { type Score, scoreGroup, staleEntries } from './mutation/score.ts'

const { values } = parseArgs({
  options: {
    group: { type: 'string', multiple: true },
    file: { type: 'string', multiple: true },
    workers: { type: 'string', default: '2' },
    survivors: { type: 'string' },
    verbose: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
})

const unknown = values.group?.find((name) => !GROUPS.some((group) => group.name === name))
if (unknown !== undefined)
  throw new TypeError(
    `--group must be one of ${GROUPS.map(({ name }) => name).join(', ')}; it was ${unknown}.`,
  )

const isChosen = values.group !== undefined || values.file !== undefined
const groups = [
  ...GROUPS.filter(({ name }) => !isChosen || values.group?.includes(name)),
  ...(values.file ?? []).map(groupOfFile),
]
const scores: Score[] = []
for (const group of groups) {
  const say = (text: string) => process.stderr.write(`mutate: ${group.name}: ${text}\n`)
  const score = await scoreGroup(group, Number(values.workers), say)
  scores.push(score)
  report(score)
}
if (values.write) write(scores.filter(({ group }) => GROUPS.includes(group)))

const faults = scores.flatMap(faultsOf)
for (const fault of faults) process.stderr.write(`mutate: ${fault}\n`)
process.exit(faults.length > 0 ? 1 : 0)

function report(score: Score): void {
  const { group, tried, ignored, broken, tookMs } = score
  const survivors = survivorsOf(score)
  const result = resultOf(score)
  const lines = [
    ...filesOf(score),
    `${group.name}: ${result.killed} of ${result.mutants} killed (${percent(result)} %), ${result.accepted} accepted, ${survivors.length} survivors, ${ignored} of prose not made; ${Math.round(tookMs / tried.length)} ms a mutant`,
    ...broken.map((file) => `left out, as it fails without any mutant: ${file}`),
    ...tried
      .filter((one) => one.isAccepted && isKilled(one))
      .map(({ mutant, by }) => `accepted, but killed: ${mutant.file}:${mutant.lineNumber} by ${by}`),
    ...survivors.map((line) => `  ${line}`),
    ...(values.verbose
      ? tried.filter(isKilled).map(({ mutant, fate, by }) => {
          const { file, lineNumber, original, replacement } = mutant
          return `  ${fate} ${file}:${lineNumber} ${original} → ${replacement}  by ${by}`
        })
      : []),
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
  if (values.survivors === undefined) return
  mkdirSync(values.survivors, { recursive: true })
  writeFileSync(
    join(values.survivors, `survivors-${group.name}.txt`),
    survivors.map((line) => `${line}\n`).join(''),
  )
}

function faultsOf(score: Score): readonly string[] {
  const { group } = score
  const result = resultOf(score)
  const isUnder = group.atLeast !== undefined && percent(result) < group.atLeast
  return [
    ...staleEntries(score).map((entry) => `an accepted mutant does not exist any more: ${entry}`),
    ...(isUnder ? [`${group.name}: ${percent(result)} % killed, and ${group.atLeast} % are wanted.`] : []),
  ]
}
