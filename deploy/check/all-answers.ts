/** Probes that look at all answers of the run. */

import type { AnswerRecord } from './answer-record.ts'
import { charsetOf, isJson, isStream } from './media-type.ts'
import { degrades, works, wrong } from './outcome.ts'
import type { Probe, Topic } from './probe.ts'
import { cite, quote } from './safe-text.ts'
import { SPEC } from './spec.ts'

/** Stack traces of common server languages. Bounded, since a body may be crafted to slow the patterns down. */
const STACKS: readonly RegExp[] = [
  /\n[ \t]{0,20}at .{1,200}:\d+:\d+\)?/,
  /\\n[ \t]{0,20}at [^"]{1,200}:\d+:\d+\)?/,
  /Traceback \(most recent call last\)/,
  /File \\?"[^"\n]{1,200}\\?", line \d+/,
  /goroutine \d+ \[/,
  /\bat [\w.$]+\([\w$]+\.(java|kt):\d+\)/,
]

/** Paths of files on the server. Only searched in errors, since tools may return paths on purpose. */
const PATHS: readonly RegExp[] = [
  /node_modules\/[\w@./-]+/,
  /\bnode:internal\/[\w/]+/,
  /(?:\/(?:home|Users|root|var\/task|usr\/src|opt|srv|workspace|app)\/[\w.-]+(?:\/[\w.-]+)+|\/var\/task\/[\w.-]+)/,
  /\b[A-Z]:\\\\?(?:Users|inetpub|home)\\[^\s"]+/,
  /site-packages\/[\w./-]+/,
]

const faults: Probe = {
  id: 'afterwards.faults',
  title: 'no answer of this run was a server error',
  spec: `${SPEC.rfc}/rfc9110#section-15.6`,
  run({ wire }) {
    const failed = wire.seen.find(({ status }) => status >= 500 && status !== 503)
    if (failed !== undefined)
      return wrong(
        `HTTP ${failed.status} to ${failed.label}`,
        'catch it and answer with a 4xx: a 5xx causes retries and alarms',
      )
    const busy = wire.seen.find(({ status }) => status === 503)
    return busy === undefined
      ? works(`${wire.seen.length} answers`)
      : degrades(`HTTP 503 to ${busy.label}`, 'check whether the server reached a limit')
  },
}

const complete: Probe = {
  id: 'afterwards.complete',
  title: 'the check was completed',
  spec: SPEC.http,
  run: ({ wire: { givenUp } }) =>
    givenUp === undefined
      ? works('completed')
      : wrong(
          `given up: ${givenUp}`,
          'find out why the server is slow, silent or endless; if it is only slow, pass a longer --deadline',
        ),
}

const strays: Probe = {
  id: 'afterwards.strays',
  title: 'no response went to the wrong request',
  spec: `${SPEC.http}#receiving-messages`,
  run({ wire }) {
    const found = wire.seen.find(({ strayId }) => strayId !== undefined)
    return found === undefined
      ? works('none seen')
      : wrong(
          `in the answer to ${found.label}: a response with the id ${found.strayId}`,
          'send each response only on the connection of its request: here one client gets the response for another',
        )
  },
}

const questions: Probe = {
  id: 'afterwards.questions',
  title: 'the server asked nothing that this client cannot answer',
  spec: `${SPEC.lifecycle}#operation`,
  run({ wire }) {
    const found = wire.seen.find(({ question }) => question !== undefined)
    return found === undefined
      ? works('nothing was asked')
      : wrong(
          `in the answer to ${found.label}: ${found.question}, though this client declared no capabilities`,
          'only use capabilities that the client declares at initialize; in 2026-07-28 return input_required instead',
        )
  },
}

const utf8: Probe = {
  id: 'afterwards.utf8',
  title: 'every answer was UTF-8',
  spec: `${SPEC.basic}#messages`,
  run({ wire }) {
    const messages = wire.seen.filter(({ headers }) => isJson(headers) || isStream(headers))
    const fix = 'write messages in UTF-8, and omit charset from the content type: clients read nothing else'
    const broken = messages.find(({ isUtf8 }) => !isUtf8)
    if (broken !== undefined) return wrong(`the answer to ${broken.label} is not`, fix)
    const named = messages.find(({ headers }) => !/^(utf-?8)?$/i.test(charsetOf(headers)))
    return named === undefined
      ? works('all of them')
      : degrades(`the answer to ${named.label} says charset=${cite(charsetOf(named.headers))}`, fix)
  },
}

const stacks: Probe = {
  id: 'afterwards.stacks',
  title: 'no error shows a stack trace',
  spec: `${SPEC.basic}#error-codes`,
  run: ({ wire }) =>
    leak(wire.seen, STACKS, 'write stacks to the log only: they expose the internals of the server'),
}

const paths: Probe = {
  id: 'afterwards.paths',
  title: 'no error shows a path of the server',
  spec: `${SPEC.basic}#error-codes`,
  run: ({ wire }) =>
    leak(wire.seen, PATHS, 'write paths to the log only: they expose the internals of the server'),
}

function leak(seen: readonly AnswerRecord[], patterns: readonly RegExp[], fix: string) {
  for (const { label, errorText } of seen) {
    for (const pattern of patterns) {
      const match = pattern.exec(errorText)
      if (match) return wrong(`in the answer to ${label}: ${quote(match[0].trim())}`, fix)
    }
  }
  return works('none seen')
}

export const allAnswers: Topic = {
  title: 'All answers',
  runs: 'alone',
  probes: [complete, faults, strays, questions, utf8, stacks, paths],
}
