/** Why there is no connection: a title, what the server said, and what to do. */
import { isA } from '../../../src/definition/error-text.ts'
import { explain, LEGACY, MODERN } from './client.ts'
import { NoConnection, TooSlow } from './connection.ts'
import { code, element } from './dom.ts'
import { NoMessage, SignInNeeded, Unreachable } from './exchange.ts'
import { asObject, asText, clip, isObject, parse, reasonOf } from './json.ts'

export interface Trouble {
  readonly title: string
  readonly reason: string
  readonly advice: readonly string[]
}

/** Shows why `error` ended connecting, with `actions` below. */
export function showTrouble(
  place: HTMLElement,
  error: unknown,
  { endpoint, actions }: { readonly endpoint: string; readonly actions: readonly HTMLElement[] },
): string {
  const attempts = isA(error, NoConnection) ? error.attempts : [{ era: undefined, error }]
  const last = attempts.at(-1)!
  const trouble = troubleOf(last.error, endpoint)
  const earlier = attempts.slice(0, -1).map(({ era, error }) => {
    const [method, version] = era === 'modern' ? ['server/discover', MODERN] : ['initialize', LEGACY]
    const text = `${method} of ${version} was tried before: ${clip(reasonOf(error), 500)}`
    return element('p', { class: 'soft' }, text)
  })
  place.replaceChildren(
    element(
      'div',
      { class: 'trouble' },
      element('h2', { tabindex: '-1' }, trouble.title),
      ...troubleText(trouble, ...earlier),
      element('div', { class: 'buttons' }, ...actions),
    ),
  )
  return trouble.title
}

/** The reason and what to do, with `between` them. */
export function troubleText({ reason, advice }: Trouble, ...between: readonly HTMLElement[]): HTMLElement[] {
  const list = element('ul', {}, ...advice.map((one) => element('li', {}, one)))
  return [code(reason, 'The reason'), ...between, list]
}

/** Whether nothing answers: the server has ended, or the local process in front of it. */
export function isDown(error: unknown): boolean {
  return isA(error, Unreachable) || (isA(error, NoMessage) && error.isLocal)
}

const AGAIN = 'Then try again. The wire shows what was sent and received.'

export function troubleOf(error: unknown, endpoint: string): Trouble {
  const { host, pathname } = new URL(endpoint)
  if (isA(error, TooSlow))
    return {
      title: 'The server does not answer',
      reason: `${host}: ${error.message}`,
      advice: [
        'It accepted the request and is still working, or something between it and you holds the answer back.',
        'Look at its log for what it waits for: a store, another server, code at the top of the file.',
        AGAIN,
      ],
    }
  if (isA(error, Unreachable))
    return {
      title: 'The server is down',
      reason: `${host}: ${error.message}`,
      advice: ['Look at the terminal of mayfly: it says why, or that it has ended.', AGAIN],
    }
  if (isA(error, SignInNeeded))
    return {
      title: 'The server asks for authorization',
      reason: challengeText(error.challenge) ?? reasonIn(error.body, '') ?? error.message,
      advice: ['Sign in with OAuth, or paste an access token.'],
    }
  if (isA(error, NoMessage)) return fromAnswer(error, { host, pathname })
  return {
    title: 'The server refuses to connect',
    reason: explain(error),
    advice: ['The reason is the server’s own.', `Choose another era, or ask who runs ${host}.`],
  }
}

function fromAnswer(
  { status, contentType, body, isLocal }: NoMessage,
  { host, pathname }: { readonly host: string; readonly pathname: string },
): Trouble {
  const reason = reasonIn(body, contentType) ?? 'The body is empty.'
  if (isLocal)
    return {
      title: 'The server is down',
      reason,
      advice: [`Nothing answers at ${host}. Is the server running, and is the URL right?`, AGAIN],
    }
  if (status >= 500)
    return {
      title: `The server answers ${status}`,
      reason,
      advice: [
        status === 500
          ? 'Its code failed before it could answer: its log has the error.'
          : 'What stands before the server could not reach it: it may be starting, restarting or out of memory.',
        AGAIN,
      ],
    }
  if (isHtml(body, contentType))
    return {
      title: 'This is a web page, not an MCP server',
      reason: `${status}: ${reason}`,
      advice: [
        `The path of the URL is ${clip(pathname, 200)}. The endpoint is often at /mcp.`,
        'A page for signing in, or of a firewall, may stand before the server.',
      ],
    }
  if (status >= 400)
    return {
      title: `The server answers ${status}`,
      reason,
      advice: [`Nothing at ${clip(pathname, 200)} speaks MCP over POST. Check the path: it is often /mcp.`],
    }
  return {
    title: 'The answer is not MCP',
    reason: `${status}: ${reason}`,
    advice: ['It has no JSON-RPC message. Check the URL; the wire shows the response.'],
  }
}

function isHtml(body: string, contentType: string): boolean {
  return /^text\/html\b/i.test(contentType) || /^\s*<(?:!doctype|html)\b/i.test(body.slice(0, 200))
}

/** `error_description` of a challenge (RFC 6750 §3). */
function challengeText(challenge: string): string | undefined {
  const [, text] = /error_description="([^"]{1,500})"/.exec(challenge) ?? []
  return text
}

const ENTITIES: { readonly [name: string]: string } = { lt: '<', gt: '>', amp: '&', quot: '"', nbsp: ' ' }

/** What a body says, in a few lines. Undefined if it is empty. */
function reasonIn(body: string, contentType: string): string | undefined {
  const start = body.slice(0, 5000)
  if (isHtml(body, contentType)) {
    const text = start
      .replace(/<(script|style)\b[^<]*<\/\1>/gi, ' ')
      .replace(/<[^<>]*>/g, ' ')
      .replace(/&(lt|gt|amp|quot|nbsp);/g, (_, name: string) => ENTITIES[name] ?? '')
      .replace(/\s+/g, ' ')
    return asText(clip(text.trim(), 300))
  }
  const value = parse(body.slice(0, 100_000))
  const { error, error_description, message, detail, title } = asObject(value)
  const said = [error_description, isObject(error) ? error.message : error, message, detail, title]
  return asText(clip((said.map(asText).find(Boolean) ?? start).trim(), 1000))
}
