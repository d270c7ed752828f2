/** Everything that `mayfly check` tests, in the order of the report. */
import { accept } from './accept.ts'
import { allAnswers } from './all-answers.ts'
import { authorization } from './authorization.ts'
import type { ToolCall } from './call-result.ts'
import type { Contact } from './contact.ts'
import { cors } from './cors.ts'
import { eras } from './eras.ts'
import { errors } from './errors.ts'
import { eventsTopic, hasEvents } from './events.ts'
import { hintsTopic } from './hints.ts'
import { httpMethods } from './http-methods.ts'
import { latency } from './latency.ts'
import { legacyRequests } from './legacy-requests.ts'
import { listenTopic } from './listen.ts'
import { lists } from './lists.ts'
import { modernRequests } from './modern-requests.ts'
import type { Topic } from './probe.ts'
import { security } from './security.ts'
import { transport } from './transport.ts'

/** `call`: a tool that may be called. */
export function topicsFor(call: ToolCall | undefined, contact: Contact): readonly Topic[] {
  return [
    eras,
    lists,
    hintsTopic(call),
    modernRequests,
    listenTopic,
    ...(hasEvents(contact) ? [eventsTopic] : []),
    legacyRequests,
    errors,
    accept,
    httpMethods,
    cors,
    authorization,
    security,
    transport,
    latency,
    allAnswers,
  ]
}
