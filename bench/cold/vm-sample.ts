/**
 * Cold starts in fresh contexts of one warm process, as on a platform that starts many isolates in one: `<rounds> <Starts as JSON>`.
 * All objects are new, and nothing is optimised yet; only the compiled script may come from V8's cache, as it does there. The clock
 * runs from the start of the script to the text of the first answer.
 */
import { readFileSync } from 'node:fs'
import { createContext, Script } from 'node:vm'
import { toRequest } from '../requests.ts'
import { type ColdSample, expectFirstAnswer, type Start } from './start.ts'

interface FetchEvent {
  readonly request: Request
  respondWith(response: Response | Promise<Response>): void
  waitUntil(promise: Promise<unknown>): void
}

const WARM_UP_ROUNDS = 2

/** Globals of Node's that edge platforms have not. */
const NODE_OWN = ['process', 'Buffer', 'global', 'gc', 'localStorage', 'sessionStorage']

const [rounds = '', starts = ''] = process.argv.slice(2)
const subjects = (JSON.parse(starts) as Start[]).map((start) => ({
  ...start,
  source: readFileSync(start.bundle, 'utf8'),
  samples: [] as ColdSample[],
}))

for (let round = -WARM_UP_ROUNDS; round < Number(rounds); round++) {
  for (const subject of subjects) {
    globalThis.gc?.()
    const sample = await startIn(subject)
    if (round >= 0) subject.samples.push(sample)
  }
}
console.log(JSON.stringify(subjects.map(({ samples }) => samples)))

async function startIn({ bundle, template, source }: Start & { source: string }): Promise<ColdSample> {
  let handler: ((event: FetchEvent) => void) | undefined
  const context = createContext({
    ...webGlobals(),
    addEventListener: (_type: string, listener: (event: FetchEvent) => void) => {
      handler = listener
    },
  })
  const request = toRequest(template)
  const start = performance.now()
  const before = process.cpuUsage()
  new Script(source, { filename: bundle }).runInContext(context)
  const response = await new Promise<Response>((respondWith) => {
    handler!({ request, respondWith, waitUntil: () => {} })
  })
  const text = await response.text()
  const firstAnswerMs = performance.now() - start
  const { user, system } = process.cpuUsage(before)
  expectFirstAnswer(bundle, response.status, text)
  return { firstAnswerMs, cpuMs: (user + system) / 1000 }
}

/** What the platform has and the language has not. */
function webGlobals(): Record<string, unknown> {
  const languageOwn = new Set(
    new Script('Object.getOwnPropertyNames(globalThis)').runInContext(createContext()),
  )
  const names = Object.getOwnPropertyNames(globalThis).filter(
    (name) => !languageOwn.has(name) && !NODE_OWN.includes(name),
  )
  return Object.fromEntries(names.map((name) => [name, Reflect.get(globalThis, name)]))
}
