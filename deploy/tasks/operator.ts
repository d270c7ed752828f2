/** Asks an endpoint of operators: of tasks, or of events. Its answers are not trusted. */
import { join } from 'node:path'
import { isLoopback } from '../../src/client/allowed-urls.ts'
import { isA } from '../../src/definition/error-text.ts'
import { isObject } from '../../src/definition/is-object.ts'
import { type OutsideAnswer, Refused } from '../playground/outgoing.ts'
import { send } from '../playground/task-requests.ts'
import { refuseForeign } from '../project/owner.ts'
import { findSecret } from '../project/secrets.ts'
import { ownFile } from '../project/stages.ts'
import { CliError, printable, UsageError } from '../terminal/cli-error.ts'

/** What an endpoint is called, in errors. */
export interface EndpointKind {
  readonly what: string
  readonly example: string
  readonly creator: string
  /** Makes its `admin`. */
  readonly admin: string
  /** The variable with the secret of operators. */
  readonly variable: string
}

export type Body = { readonly [name: string]: unknown }

export interface Operator {
  /** Rejects with `CliError`. */
  act(method: 'GET' | 'POST', action: string, value: string, options?: object): Promise<Body>
  /** The error for an answer that is something else. */
  notAdmin(): CliError
}

/** Throws `UsageError` for a URL over which others could read the secret. */
export function parseEndpoint(text: string, { what, example }: EndpointKind): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
    throw new UsageError(`--url takes the URL of the ${what}: ${example}`)
  if (url.protocol === 'http:' && !isLoopback(url))
    throw new UsageError('--url must begin with https://: others could read the secret')
  url.hash = ''
  return url
}

/** Never in the arguments, which other users of the machine can see. Throws `CliError`. */
export function operatorSecret({ variable, admin }: EndpointKind, stage: string | undefined): string {
  const cwd = process.cwd()
  refuseForeign(cwd)
  const found = findSecret({ cwd, entry: join(cwd, 'server'), stage }, variable)
  if (found !== undefined) return found.value
  throw new CliError(
    `${variable} has no value: set it, in the environment or in ${ownFile(stage)}, to the secret of ${admin}`,
  )
}

/** What AWS's clients say on a machine that has no region, or nobody's credentials. */
const NO_AWS = /Region is missing|Could not load credentials|Credential is missing/

/** The error of a store that the server itself did not reach. */
export function notReached(entry: string, refusal: string, { what, variable }: EndpointKind): CliError {
  const said = `${entry}: ${printable(refusal)}`
  if (!NO_AWS.test(refusal)) return new CliError(said)
  return new CliError(
    `${said.replace(/\.$/, '')}; its store is on AWS: set AWS_REGION, credentials and the name of the table as the deployment has them, or pass its ${what} as --url, with ${variable}`,
  )
}

/** Throws `CliError`. */
export function operatorAt(endpoint: URL, secret: string, kind: EndpointKind): Operator {
  if (!/^[\x21-\x7e]+$/.test(secret))
    throw new CliError(`${kind.variable} is empty, or has characters that a header cannot hold`)
  return {
    async act(method, action, value, options = {}) {
      const url = new URL(endpoint)
      url.searchParams.set(action, value)
      for (const [name, option] of Object.entries(options))
        if (option !== undefined) url.searchParams.set(name, String(option))
      const answer = await send(method, url, secret).catch((error: unknown) => {
        throw isA(error, Refused) ? new CliError(error.message) : error
      })
      return bodyOf(answer, endpoint, kind)
    },
    notAdmin: () => notAdmin(endpoint, kind),
  }
}

/** Throws `CliError`. */
function bodyOf({ status, body }: OutsideAnswer, endpoint: URL, kind: EndpointKind): Body {
  const json = parse(body)
  if (status === 401)
    throw new CliError(
      `${endpoint.origin}${endpoint.pathname} refuses ${kind.variable}: it has another secret, or no "admin"`,
    )
  if (!isObject(json)) throw notAdmin(endpoint, kind, status)
  if (status === 200) return json
  if (typeof json.error !== 'string') throw notAdmin(endpoint, kind, status)
  throw new CliError(json.error)
}

function notAdmin({ origin, pathname }: URL, { what, creator }: EndpointKind, status = 200): CliError {
  return new CliError(
    `${origin}${pathname} does not answer like ${/^[aeiou]/.test(what) ? 'an' : 'a'} ${what} with "admin" (status ${status}): is it the path of ${creator}?`,
  )
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
